// Prints what events show of two streams whose kernels and copies alternate, and that one waits for the other.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

__global__ void Work(float* data, int turns) {
  float x = data[threadIdx.x];
  for (int turn = 0; turn < turns; turn++) x = x * 1.0001f + 1.0f;
  data[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

int main() {
  constexpr int kCount = 1 << 14;
  constexpr int kRounds = 4;
  std::vector<float> host(kCount, 1.0f);
  float* data[2];
  hipStream_t stream[2];
  hipEvent_t event[2][kRounds + 1];
  for (int n = 0; n < 2; n++) {
    if (hipMalloc(&data[n], kCount * sizeof(float)) != hipSuccess || hipStreamCreate(&stream[n]) != hipSuccess) return 1;
    for (hipEvent_t& e : event[n]) (void)hipEventCreate(&e);
  }
  for (int round = 0; round < kRounds; round++) {
    for (int n = 0; n < 2; n++) {
      (void)hipEventRecord(event[n][round], stream[n]);
      Work<<<kCount / 256, 256, 0, stream[n]>>>(data[n], (n == 0 ? 100 : 300) * (round + 1));
      if (round == 1) {
        (void)hipMemcpyAsync(data[n], host.data(), kCount * sizeof(float), hipMemcpyHostToDevice, stream[n]);
      }
    }
    if (round == 2) (void)hipStreamWaitEvent(stream[1], event[0][round], 0);
  }
  for (int n = 0; n < 2; n++) (void)hipEventRecord(event[n][kRounds], stream[n]);
  if (hipDeviceSynchronize() != hipSuccess) return 1;
  for (int n = 0; n < 2; n++) {
    for (int round = 0; round < kRounds; round++) {
      float ms = 0;
      if (hipEventElapsedTime(&ms, event[n][round], event[n][round + 1]) != hipSuccess) return 1;
      std::printf("%.5f%c", ms, round + 1 == kRounds ? '\n' : ' ');
    }
  }
}
