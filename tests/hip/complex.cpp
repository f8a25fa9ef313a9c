// Complex arithmetic on ten million numbers in workgroups of 256; the last workgroup is not full. Three kernels, each launched `repeat` times.
#include <cstdint>

#include "check.h"

template <typename T>
struct Complex {
  T re, im;
};
template <typename T>
__host__ __device__ bool Same(int i) {
  const Complex<T> a{static_cast<T>(i % 7), static_cast<T>(i % 5)}, b{static_cast<T>(i % 3), static_cast<T>(i % 11)};
  const Complex<T> product{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  const T left = product.re * product.re + product.im * product.im;
  return left == (a.re * a.re + a.im * a.im) * (b.re * b.re + b.im * b.im);
}

__global__ void complex_float(char* checks, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) checks[i] = Same<float>(i) ? 1 : 0;
}
__global__ void complex_double(char* checks, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) checks[i] = Same<double>(i) ? 1 : 0;
}
__global__ void ref_complex_double(char* checks, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) checks[i] = i >= 0;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 10000000;
  const int repeat = argc > 2 ? std::atoi(argv[2]) : 1;
  char* checks = nullptr;
  OK(hipMalloc(&checks, n));
  const int groups = (n + 255) / 256;
  for (void (*const kernel)(char*, int) : {complex_float, complex_double, ref_complex_double}) {
    OK(hipMemset(checks, 0, n));
    for (int i = 0; i < repeat; i++) kernel<<<groups, 256>>>(checks, n);
    for (const char one : Download(checks, n)) CHECK(one == 1);
  }
  return Ok();
}
