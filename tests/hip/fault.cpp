// A kernel that reads or writes where nothing is ends the program with the address and the kernel's name.
#include <string>

#include "check.h"

__global__ void out_of_bounds(int* p, long offset) { p[offset] = 1; }
__global__ void null_pointer(const int* p, int* out) { *out = *p; }

int main(int, char** argv) {
  const std::string kind = argv[1];
  int* p;
  OK(hipMalloc(&p, 4096));
  if (kind == "near") {
    int* next;
    OK(hipMalloc(&next, 4096));
    out_of_bounds<<<1, 1>>>(p, 1024);
    out_of_bounds<<<1, 1>>>(p, 3 * 1024);
    int value = 0;
    OK(hipMemcpy(&value, next, 4, hipMemcpyDeviceToHost));
    CHECK(value == 1);
  }
  if (kind == "far") out_of_bounds<<<1, 1>>>(p, 1l << 36);
  if (kind == "null") null_pointer<<<1, 1>>>(nullptr, p);
  if (kind == "freed") {
    OK(hipFree(p));
    out_of_bounds<<<1, 1>>>(p, 0);
  }
  if (kind == "pageable") {
    int local = 0;
    null_pointer<<<1, 1>>>(&local, p);
  }
  (void)hipDeviceSynchronize();
  std::printf("still here\n");
  return 0;
}
