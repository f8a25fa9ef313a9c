// Arithmetic that a host compiler and a GPU compiler must agree on bit for bit. `arithmetic(i, in, out)` reads 8 words of case i and
// writes RESULTS words. Built natively (with main) and as an AMDGPU kernel; operations whose rounding C leaves open are left out.
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned short u16;
typedef short i16;
typedef unsigned char u8;
typedef signed char i8;

#define RESULTS 96

#pragma STDC FP_CONTRACT OFF

static inline u32 f2u(float x) {
  u32 r;
  __builtin_memcpy(&r, &x, 4);
  return (r & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : r;
}
static inline float u2f(u32 x) {
  float r;
  __builtin_memcpy(&r, &x, 4);
  return r;
}
static inline u64 d2u(double x) {
  u64 r;
  __builtin_memcpy(&r, &x, 8);
  return (r & 0x7fffffffffffffffull) > 0x7ff0000000000000ull ? 0x7ff8000000000000ull : r;
}
static inline double u2d(u64 x) {
  double r;
  __builtin_memcpy(&r, &x, 8);
  return r;
}
static inline u32 h2u(_Float16 x) {
  u16 r;
  __builtin_memcpy(&r, &x, 2);
  return (r & 0x7fff) > 0x7c00 ? 0x7e00 : r;
}
static inline _Float16 u2h(u32 x) {
  u16 s = (u16)x;
  _Float16 r;
  __builtin_memcpy(&r, &s, 2);
  return r;
}

static inline void arithmetic(const u32 *in, u32 *out) {
  u32 n = 0;
#define PUT(x) out[n++] = (u32)(x)
#define PUT64(x) do { u64 v_ = (u64)(x); out[n++] = (u32)v_; out[n++] = (u32)(v_ >> 32); } while (0)
  u32 a = in[0], b = in[1], c = in[2];
  i32 sa = (i32)a, sb = (i32)b, sc = (i32)c;
  u64 la = a | ((u64)in[3] << 32), lb = b | ((u64)in[4] << 32);
  i64 ja = (i64)la, jb = (i64)lb;
  PUT(a + b); PUT(a - b); PUT(a * b); PUT(a * b + c);
  PUT(a / (b | 1)); PUT(a % (b | 1)); PUT(sa / (i32)((b & 0x7fff) | 1)); PUT(sa % (i32)((b & 0x7fff) | 1));
  PUT(a << (b & 31)); PUT(a >> (b & 31)); PUT(sa >> (b & 31)); PUT((a << 7) | (a >> 25));
  PUT(a & b); PUT((a & b) | c); PUT(a ^ ~b); PUT((a & c) | (b & ~c));
  PUT(sa < sb ? sa : sb); PUT(sa > sb ? sa : sb); PUT(a < b ? a : b); PUT(a > b ? a : b);
  PUT(__builtin_popcount(a)); PUT(a ? __builtin_clz(a) : 32); PUT(a ? __builtin_ctz(a) : 32); PUT(__builtin_bitreverse32(a));
  PUT(__builtin_bswap32(a)); PUT(((u64)a * b) >> 32); PUT((u64)((i64)sa * sb) >> 32); PUT(sa < 0 ? -(u32)sa : a);
  PUT64(la + lb); PUT64(la - lb); PUT64(la * lb); PUT64(la / (lb | 1)); PUT64(ja % (i64)((lb & 0xffffffff) | 1));
  PUT64(la << (c & 63)); PUT64(la >> (c & 63)); PUT64((u64)(ja >> (c & 63)));
  PUT(ja < jb); PUT(la < lb); PUT(__builtin_popcountll(la)); PUT(la ? __builtin_clzll(la) : 64);
  PUT((u16)((u16)a * (u16)b + (u16)c)); PUT((u32)(i32)(i16)((i16)a >> (b & 15))); PUT((u16)((u16)a << (b & 15)));
  PUT((u8)(a + b)); PUT((u32)(i32)(i8)a); PUT(((a >> 8) & 255) * ((b >> 16) & 255));
  PUT((sa << 8 >> 8) * (sb << 8 >> 8) + sc); PUT((a & 0xffffff) * (b & 0xffffff));
  float x = u2f(a), y = u2f(b), z = u2f(c);
  PUT(f2u(x + y)); PUT(f2u(x - y)); PUT(f2u(x * y)); PUT(f2u(__builtin_fmaf(x, y, z)));
  PUT(f2u(x / y)); PUT(f2u(__builtin_floorf(x))); PUT(f2u(__builtin_ceilf(x))); PUT(f2u(__builtin_truncf(x)));
  PUT(f2u(__builtin_rintf(x))); PUT(x < y); PUT(x <= y); PUT(x == y); PUT(!(x >= y));
  PUT(f2u(__builtin_fabsf(x) - y)); PUT(f2u((float)sa)); PUT(f2u((float)a));
  PUT(x > -2e9f && x < 2e9f ? (i32)x : 7); PUT(x >= 0 && x < 4e9f ? (u32)x : 7);
  PUT(f2u((float)ja)); PUT(f2u((float)la));
  double p = u2d(la), q = u2d(lb), r = (double)z;
  PUT64(d2u(p + q)); PUT64(d2u(p * q)); PUT64(d2u(__builtin_fma(p, q, r))); PUT64(d2u(p / q));
  PUT64(d2u((double)x)); PUT(f2u((float)p)); PUT64(d2u((double)sa)); PUT(p < q);
  _Float16 h = u2h(a), k = u2h(b);
  PUT(h2u(h + k)); PUT(h2u(h * k)); PUT(h2u((_Float16)x)); PUT(f2u((float)h)); PUT(h < k);
  while (n < RESULTS) PUT(0);
}

#ifdef __AMDGPU__
#define GLOBAL __attribute__((address_space(1)))
__attribute__((amdgpu_kernel, visibility("default"))) void arithmetic_kernel(const GLOBAL u32 *in, GLOBAL u32 *out, u32 count) {
  u32 i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i < count) arithmetic((const u32 *)in + 8 * i, (u32 *)out + RESULTS * i);
}
#else
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  u32 in[8], out[RESULTS];
  while (fread(in, 4, 8, stdin) == 8) {
    arithmetic(in, out);
    fwrite(out, 4, RESULTS, stdout);
  }
  return 0;
}
#endif
