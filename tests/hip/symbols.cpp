// __device__, __constant__, __managed__ variables: copies, addresses, sizes, initial values.
#include "check.h"

struct Pair {
  int a;
  double b;
};
__device__ int numbers[8] = {1, 2, 3};
__constant__ Pair constants[2] = {{1, 1.5}, {2, 2.5}};
__managed__ int managed = 42;
__managed__ float managed_array[4] = {1, 2, 3, 4};
static __device__ unsigned counter;

__global__ void use(double* out) {
  out[0] = numbers[2] + constants[1].b;
  managed += constants[0].a;
  managed_array[3] *= 2;
  counter += 5;
}

int main() {
  CHECK(managed == 42 && managed_array[2] == 3.0f);
  double* out;
  OK(hipMalloc(&out, sizeof(double)));
  use<<<1, 1>>>(out);
  CHECK(Download(out, 1)[0] == 5.5);
  CHECK(managed == 43 && managed_array[3] == 8.0f);
  managed = 100;
  const int changed[2] = {20, 30};
  OK(hipMemcpyToSymbol(HIP_SYMBOL(numbers), changed, sizeof changed, sizeof(int)));
  const Pair pairs[2] = {{-7, 0}, {0, 0.25}};
  OK(hipMemcpyToSymbol(HIP_SYMBOL(constants), pairs, sizeof pairs));
  use<<<1, 1>>>(out);
  CHECK(Download(out, 1)[0] == 30.25);
  CHECK(managed == 93);
  int read[8];
  OK(hipMemcpyFromSymbol(read, HIP_SYMBOL(numbers), sizeof read));
  CHECK(read[0] == 1 && read[1] == 20 && read[2] == 30 && read[3] == 0);
  unsigned count = 0;
  OK(hipMemcpyFromSymbol(&count, HIP_SYMBOL(counter), sizeof count));
  CHECK(count == 10);
  hipStream_t s;
  OK(hipStreamCreate(&s));
  const unsigned zero = 0;
  OK(hipMemcpyToSymbolAsync(HIP_SYMBOL(counter), &zero, sizeof zero, 0, hipMemcpyHostToDevice, s));
  use<<<1, 1, 0, s>>>(out);
  OK(hipMemcpyFromSymbolAsync(&count, HIP_SYMBOL(counter), sizeof count, 0, hipMemcpyDeviceToHost, s));
  OK(hipStreamSynchronize(s));
  CHECK(count == 5);
  void* address = nullptr;
  size_t size = 0;
  OK(hipGetSymbolAddress(&address, HIP_SYMBOL(numbers)));
  OK(hipGetSymbolSize(&size, HIP_SYMBOL(numbers)));
  CHECK(size == sizeof numbers);
  CHECK(Download(static_cast<int*>(address), 2)[1] == 20);
  GIVES(hipErrorInvalidValue, hipMemcpyToSymbol(HIP_SYMBOL(numbers), changed, sizeof changed, 7 * sizeof(int)));
  GIVES(hipErrorInvalidSymbol, hipGetSymbolAddress(&address, &size));
  return Ok();
}
