// Templates, functors, lambdas, virtual functions, function pointers, recursion in kernels.
#include "check.h"

template <typename T, typename F>
__global__ void map(const T* in, T* out, int n, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = f(in[i]);
}
template <int N>
struct Power {
  __host__ __device__ double operator()(double x) const {
    double r = 1;
    for (int i = 0; i < N; i++) r *= x;
    return r;
  }
};
template <typename T>
struct Affine {
  T a, b;
  __device__ T operator()(T x) const { return a * x + b; }
};
struct Shape {
  __device__ virtual float Area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float Area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float Area() const override { return 3.0f * radius * radius; }
};
__global__ void areas(float* out) {
  Square square(static_cast<float>(threadIdx.x));
  Circle circle(static_cast<float>(threadIdx.x));
  const Shape* const shape = threadIdx.x % 2 == 0 ? static_cast<const Shape*>(&square) : &circle;
  out[threadIdx.x] = shape->Area();
}
__device__ int Add(int a, int b) { return a + b; }
__device__ int Multiply(int a, int b) { return a * b; }
__device__ int (*const table[2])(int, int) = {Add, Multiply};
__global__ void calls(int* out, int which) { out[threadIdx.x] = table[which](static_cast<int>(threadIdx.x), 7); }
__device__ __attribute__((noinline)) unsigned long long Fibonacci(int n) {
  return n < 2 ? static_cast<unsigned long long>(n) : Fibonacci(n - 1) + Fibonacci(n - 2);
}
__global__ void recursion(unsigned long long* out) { out[threadIdx.x] = Fibonacci(static_cast<int>(threadIdx.x)); }

int main() {
  const int n = 100;
  std::vector<double> in(n);
  for (int i = 0; i < n; i++) in[i] = i * 0.5;
  const double* a = Upload(in);
  double* b = Upload(in);
  map<<<2, 64>>>(a, b, n, Power<3>{});
  auto out = Download(b, n);
  for (int i = 0; i < n; i++) CHECK(out[i] == Power<3>{}(in[i]));
  map<<<2, 64>>>(a, b, n, Affine<double>{2, 1});
  CHECK(Download(b, n)[9] == 10.0);
  const double offset = 0.125;
  map<<<2, 64>>>(a, b, n, [offset] __device__(double x) { return x - offset; });
  CHECK(Download(b, n)[8] == 3.875);

  float* f;
  OK(hipMalloc(&f, 64 * sizeof(float)));
  areas<<<1, 64>>>(f);
  const auto sizes = Download(f, 64);
  CHECK(sizes[4] == 16.0f && sizes[5] == 75.0f);
  int* k;
  OK(hipMalloc(&k, 64 * sizeof(int)));
  calls<<<1, 64>>>(k, 0);
  CHECK(Download(k, 64)[5] == 12);
  calls<<<1, 64>>>(k, 1);
  CHECK(Download(k, 64)[5] == 35);
  unsigned long long* u;
  OK(hipMalloc(&u, 12 * 8));
  recursion<<<1, 12>>>(u);
  OK(hipGetLastError());
  CHECK(Download(u, 12)[11] == 89);
  return Ok();
}
