// A result of which the last bytes are never written is copied to the host.
#include "check.h"

__global__ void most_of(int* out, int n) {
  if (static_cast<int>(threadIdx.x) < n) out[threadIdx.x] = 7;
}

int main() {
  int* out;
  int got[64];
  OK(hipMalloc(&out, sizeof got));
  most_of<<<1, 64>>>(out, 60);
  OK(hipMemcpy(got, out, 60 * sizeof(int), hipMemcpyDeviceToHost));
  CHECK(got[59] == 7);
  OK(hipMemcpy(got, out, sizeof got, hipMemcpyDeviceToHost));
  std::printf("ok\n");
  return 0;
}
