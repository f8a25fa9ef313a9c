// Times for bench/runtime.bench.ts: `latency launch ROUNDS` prints the microseconds of empty kernels from hipLaunchKernel to completion;
// `latency copy BYTES ROUNDS` prints pairs of seconds, memcpy and hipMemcpy from host to device, alternating.
#include <hip/hip_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void empty() {}

static double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

#define CHECK(call)                                                                            \
  if (const hipError_t error = (call); error != hipSuccess) {                                  \
    std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error));                         \
    return 1;                                                                                  \
  }

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "launch") == 0) {
    for (int n = -50; n < std::atoi(argv[2]); n++) {
      const double start = Now();
      empty<<<1, 64>>>();
      CHECK(hipDeviceSynchronize());
      if (n >= 0) std::printf("%.2f\n", (Now() - start) * 1e6);
    }
    return 0;
  }
  if (argc == 4 && std::strcmp(argv[1], "copy") == 0) {
    const size_t bytes = std::strtoull(argv[2], nullptr, 10);
    std::vector<char> source(bytes, 1), plain(bytes, 2);
    void* device = nullptr;
    CHECK(hipMalloc(&device, bytes));
    CHECK(hipMemcpy(device, source.data(), bytes, hipMemcpyHostToDevice));
    for (int n = 0; n < std::atoi(argv[3]); n++) {
      const double start = Now();
      std::memcpy(plain.data(), source.data(), bytes);
      const double middle = Now();
      CHECK(hipMemcpy(device, source.data(), bytes, hipMemcpyHostToDevice));
      std::printf("%.9f %.9f\n", middle - start, Now() - middle);
    }
    return 0;
  }
  return 2;
}
