// printf of kernels: every conversion, strings, order within a thread and with the host's output, many threads.
#include "check.h"

__global__ void conversions(const char* text) {
  printf("integers %d %5d|%-5d|%+d %u %x %X %o %#x %c\n", -1, 42, 42, 7, 4000000000u, 255, 255, 8, 16, 'z');
  printf("long %lld %llu %lx %hd %hhd\n", -1234567890123ll, ~0ull, 1ul << 40, static_cast<short>(-5),
         static_cast<signed char>(-6));
  printf("floating %f %.2f %8.3e %g %a\n", 1.5, 3.14159f, 12345.678, 0.0001, 0.5);
  printf("strings '%s' '%10s' '%-6s' '%.3s' 100%%\n", text, "right", "left", "truncated");
  printf("stars %*d %.*f\n", 6, 12, 2, 2.71828);
  printf("pointer %d\n", reinterpret_cast<unsigned long long>(text) != 0);
  printf("no arguments\n");
  printf("a rather long line of text that does not fit into one packet of fifty-six bytes: %d %d %d %d %d %d %d %d %d\n", 1,
         2, 3, 4, 5, 6, 7, 8, 9);
}
__global__ void lines(int* lengths) {
  const int length = printf("thread %d of block %d\n", static_cast<int>(threadIdx.x), static_cast<int>(blockIdx.x));
  if (threadIdx.x % 2 == 1) printf("odd %d\n", static_cast<int>(threadIdx.x));
  lengths[threadIdx.x] = length;
}

int main() {
  char* text;
  OK(hipMallocManaged(reinterpret_cast<void**>(&text), 32));
  std::strcpy(text, "of the host");
  std::printf("before\n");
  conversions<<<1, 1>>>(text);
  OK(hipDeviceSynchronize());
  std::printf("between\n");
  int* lengths;
  OK(hipMalloc(&lengths, 70 * sizeof(int)));
  lines<<<2, 70>>>(lengths);
  OK(hipDeviceSynchronize());
  std::printf("after\n");
  return Ok();
}
