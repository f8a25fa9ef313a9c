// Two kernels on two streams, which the debugger goes back in while packets of the other stream wait: each runs once for each packet.
#include <hip/hip_runtime.h>
#include <cstdio>

struct Item {
  int id;
  float w;
};

__device__ float weight(const Item &item, int k) {
  float t = item.w * k;
  t += item.id;
  return t;
}

__global__ void scale(Item *items, int k) {
  __shared__ float part[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = weight(items[i], k);
  __syncthreads();
  items[i].w = part[threadIdx.x ^ 1];
}

__global__ void add(const Item *items, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = items[i].w;
  v += 1;
  out[i] = v;
}

int main() {
  const int n = 128;
  Item *items[2], first[n];
  float *out[2], last[n];
  hipStream_t streams[2];
  for (int i = 0; i < n; i++) first[i] = {i, i * 0.5f};
  for (int s = 0; s < 2; s++) {
    if (hipStreamCreate(&streams[s]) || hipMalloc(&items[s], sizeof first) || hipMalloc(&out[s], sizeof last)) return 1;
    (void)hipMemcpyAsync(items[s], first, sizeof first, hipMemcpyHostToDevice, streams[s]);
  }
  for (int round = 0; round < 3; round++) {
    for (int s = 0; s < 2; s++) {
      scale<<<2, 64, 0, streams[s]>>>(items[s], round + s + 1);
      add<<<2, 64, 0, streams[s]>>>(items[s], out[s]);
    }
  }
  for (int s = 0; s < 2; s++) {
    (void)hipMemcpyAsync(last, out[s], sizeof last, hipMemcpyDeviceToHost, streams[s]);
    (void)hipStreamSynchronize(streams[s]);
    printf("stream %d: %g %g\n", s, last[3], last[100]);
  }
  return 3;
}
