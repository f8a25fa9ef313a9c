// The two programs of the capture requirement: a simple arithmetic kernel, and one that chases pointers through device memory. Beside them a
// kernel that runs many times, a managed buffer, and memory of hipMallocAsync.
#include <hip/hip_runtime.h>

#include <cstdio>

struct Node {
  Node* next;
  int value;
};

extern "C" __global__ void minimal(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + 1.0f;
}

extern "C" __global__ void chase(const Node* head, int* sum) {
  int s = 0;
  for (const Node* n = head; n != nullptr; n = n->next) s += n->value;
  *sum = s;
}

extern "C" __global__ void step(int* counter) { counter[threadIdx.x] += threadIdx.x; }

int main() {
  const int n = 1000;
  float *x, *y;
  hipMalloc(&x, n * sizeof(float));
  hipMalloc(&y, n * sizeof(float));
  float host[1000];
  for (int i = 0; i < n; i++) host[i] = i * 0.5f;
  hipMemcpy(x, host, sizeof host, hipMemcpyHostToDevice);
  minimal<<<4, 256>>>(y, x, 2.0f, n);

  Node* nodes[16];
  for (auto& node : nodes) hipMalloc(&node, sizeof(Node));
  for (int i = 0; i < 16; i++) {
    Node node = {i < 15 ? nodes[i + 1] : nullptr, i + 1};
    hipMemcpy(nodes[i], &node, sizeof node, hipMemcpyHostToDevice);
  }
  int* sum;
  hipMallocManaged(&sum, sizeof(int));
  chase<<<1, 1>>>(nodes[0], sum);

  int* counter;
  hipStream_t stream;
  hipStreamCreate(&stream);
  hipMallocAsync(reinterpret_cast<void**>(&counter), 64 * sizeof(int), stream);
  hipMemsetAsync(counter, 0, 64 * sizeof(int), stream);
  for (int i = 0; i < 5; i++) step<<<1, 64, 0, stream>>>(counter);
  int last[64];
  hipMemcpyAsync(last, counter, sizeof last, hipMemcpyDeviceToHost, stream);
  hipDeviceSynchronize();
  hipMemcpy(host, y, sizeof host, hipMemcpyDeviceToHost);
  printf("%g %d %d\n", host[999], *sum, last[63]);
  return 0;
}
