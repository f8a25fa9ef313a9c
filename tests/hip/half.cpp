// 16-bit floating point: __half, __half2 and bfloat16 arithmetic and conversions.
#include "check.h"

// Debian's hip_fp16.h expects a compiler that declares these.
typedef _Float16 Half2 __attribute__((ext_vector_type(2)));
static inline __device__ _Float16 __llvm_amdgcn_rcp_f16(_Float16 x) { return __builtin_amdgcn_rcph(x); }
static inline __device__ Half2 __llvm_amdgcn_rcp_2f16(Half2 x) {
  return Half2{__llvm_amdgcn_rcp_f16(x.x), __llvm_amdgcn_rcp_f16(x.y)};
}

#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>

__global__ void halves(const __half* a, const __half* b, __half* out, float* wide, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  out[i] = __hfma(a[i], b[i], __float2half(0.5f));
  wide[i] = __half2float(__hadd(a[i], b[i]));
}
__global__ void pairs(const __half2* a, __half2* out) {
  out[threadIdx.x] = __hmul2(a[threadIdx.x], __float2half2_rn(2.0f));
}
__global__ void brains(const hip_bfloat16* a, hip_bfloat16* out, float* wide) {
  const int i = threadIdx.x;
  out[i] = a[i] * hip_bfloat16(3.0f) + hip_bfloat16(1.0f);
  wide[i] = static_cast<float>(a[i]);
}

int main() {
  const int n = 64;
  std::vector<__half> a(n), b(n);
  for (int i = 0; i < n; i++) {
    a[i] = __float2half(static_cast<float>(i % 8) * 0.25f);
    b[i] = __float2half(static_cast<float>(i - 30));
  }
  const __half *da = Upload(a), *db = Upload(b);
  __half* out = Upload(a);
  float* wide = Upload(std::vector<float>(n));
  halves<<<1, n>>>(da, db, out, wide, n);
  const auto h = Download(out, n);
  auto w = Download(wide, n);
  for (int i = 0; i < n; i++) {
    CHECK(__half2float(h[i]) == static_cast<float>(i % 8) * 0.25f * static_cast<float>(i - 30) + 0.5f);
    CHECK(w[i] == static_cast<float>(i % 8) * 0.25f + static_cast<float>(i - 30));
  }
  pairs<<<1, n / 2>>>(reinterpret_cast<const __half2*>(da), reinterpret_cast<__half2*>(out));
  const auto p = Download(out, n);
  for (int i = 0; i < n; i++) CHECK(__half2float(p[i]) == static_cast<float>(i % 8) * 0.5f);

  std::vector<hip_bfloat16> c(n);
  for (int i = 0; i < n; i++) c[i] = hip_bfloat16(static_cast<float>(i) * 0.5f);
  const hip_bfloat16* dc = Upload(c);
  hip_bfloat16* bout = Upload(c);
  brains<<<1, n>>>(dc, bout, wide);
  const auto bs = Download(bout, n);
  w = Download(wide, n);
  for (int i = 0; i < n; i++) {
    CHECK(w[i] == static_cast<float>(i) * 0.5f);
    const float expected = static_cast<float>(i) * 1.5f + 1.0f;
    CHECK(std::fabs(static_cast<float>(bs[i]) - expected) <= expected * 0.008f);
  }
  return Ok();
}
