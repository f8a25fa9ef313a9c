// The device math library (ocml) against the host's, in float and double; integer intrinsics.
#include "check.h"

template <typename T>
struct Results {
  T values[20];
};
template <typename T>
__global__ void evaluate(const T* in, Results<T>* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T x = in[i];
  T* const r = out[i].values;
  r[0] = sin(x);
  r[1] = cos(x);
  r[2] = tan(x);
  r[3] = exp(x * T(0.1));
  r[4] = log(fabs(x) + T(1));
  r[5] = sqrt(fabs(x));
  r[6] = pow(fabs(x), T(1.7));
  r[7] = atan2(x, T(2));
  r[8] = erf(x);
  r[9] = tgamma(fabs(x) * T(0.1) + T(1));
  r[10] = cbrt(x);
  r[11] = sinh(x * T(0.1));
  r[12] = tanh(x);
  r[13] = log1p(fabs(x));
  r[14] = fmod(x, T(3));
  r[15] = hypot(x, T(4));
  r[16] = exp2(x * T(0.2));
  r[17] = lgamma(fabs(x) + T(0.5));
  r[18] = asin(x / T(60));
  r[19] = ldexp(x, 5);
}
template <typename T>
void Expected(T x, T* r) {
  r[0] = std::sin(x);
  r[1] = std::cos(x);
  r[2] = std::tan(x);
  r[3] = std::exp(x * T(0.1));
  r[4] = std::log(std::fabs(x) + T(1));
  r[5] = std::sqrt(std::fabs(x));
  r[6] = std::pow(std::fabs(x), T(1.7));
  r[7] = std::atan2(x, T(2));
  r[8] = std::erf(x);
  r[9] = std::tgamma(std::fabs(x) * T(0.1) + T(1));
  r[10] = std::cbrt(x);
  r[11] = std::sinh(x * T(0.1));
  r[12] = std::tanh(x);
  r[13] = std::log1p(std::fabs(x));
  r[14] = std::fmod(x, T(3));
  r[15] = std::hypot(x, T(4));
  r[16] = std::exp2(x * T(0.2));
  r[17] = std::lgamma(std::fabs(x) + T(0.5));
  r[18] = std::asin(x / T(60));
  r[19] = std::ldexp(x, 5);
}
template <typename T>
void Compare(T tolerance) {
  std::vector<T> in;
  for (int i = -128; i < 128; i++) in.push_back(static_cast<T>(i) * T(0.37) + T(0.01));
  const T* device = Upload(in);
  auto* out = Upload(std::vector<Results<T>>(in.size()));
  evaluate<<<4, 64>>>(device, out, static_cast<int>(in.size()));
  const auto results = Download(out, in.size());
  for (size_t i = 0; i < in.size(); i++) {
    T expected[20];
    Expected(in[i], expected);
    for (int k = 0; k < 20; k++) {
      const T error = std::fabs(results[i].values[k] - expected[k]);
      if (error <= tolerance * (1 + std::fabs(expected[k]))) continue;
      std::printf("function %d of %g is %.17g, not %.17g\n", k, double(in[i]), double(results[i].values[k]),
                  double(expected[k]));
      std::exit(1);
    }
  }
}
__global__ void integers(unsigned long long* out) {
  out[0] = __umulhi(0x80000000u, 6u);
  out[1] = __umul64hi(1ull << 63, 10);
  out[2] = __brev(1u);
  out[3] = __popc(0xf0f0u);
  out[4] = __clz(1);
  out[5] = __ffs(8);
  out[6] = __mul24(-3, 5);
  out[7] = __float_as_uint(1.0f);
  out[8] = __double2int_rn(2.5);
  out[9] = __float2int_rz(-2.7f);
  out[10] = static_cast<unsigned>(__byte_perm(0x33221100, 0x77665544, 0x7531));
  out[11] = __usad(10u, 3u, 1u);
}

int main() {
  Compare<float>(4e-6f);
  Compare<double>(1e-13);
  unsigned long long* out;
  OK(hipMalloc(&out, 12 * 8));
  integers<<<1, 1>>>(out);
  const auto r = Download(out, 12);
  CHECK(r[0] == 3 && r[1] == 5 && r[2] == 0x80000000u && r[3] == 8 && r[4] == 31 && r[5] == 4);
  CHECK(static_cast<int>(r[6]) == -15 && r[7] == 0x3f800000 && r[8] == 2 && static_cast<int>(r[9]) == -2);
  CHECK(r[10] == 0x77553311u && r[11] == 8);
  return Ok();
}
