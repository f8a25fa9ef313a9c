// Debian's header of half precision (HIP 5) expects a compiler that declares these two; clang 22 has them as built-in functions.
#pragma once
typedef _Float16 wavesmith_half2 __attribute__((ext_vector_type(2)));
static inline __attribute__((device)) _Float16 __llvm_amdgcn_rcp_f16(_Float16 x) { return __builtin_amdgcn_rcph(x); }
static inline __attribute__((device)) wavesmith_half2 __llvm_amdgcn_rcp_2f16(wavesmith_half2 x) {
  return wavesmith_half2{__llvm_amdgcn_rcp_f16(x.x), __llvm_amdgcn_rcp_f16(x.y)};
}
