// Relocatable device code: a kernel calls a function and reads a variable of another translation unit (-fgpu-rdc).
#include "check.h"

extern __device__ int shared_table[4];
extern __device__ int Twice(int x);

__global__ void use(int* out) { out[threadIdx.x] = Twice(shared_table[threadIdx.x]) + 1; }

int main() {
  int* out;
  OK(hipMalloc(&out, 4 * sizeof(int)));
  use<<<1, 4>>>(out);
  const auto values = Download(out, 4);
  for (int i = 0; i < 4; i++) CHECK(values[i] == 2 * (10 + i) + 1);
  return Ok();
}
