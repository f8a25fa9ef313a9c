// Probes as device functions: `wavesmith probe --tool FILE.hip`. Any clang with an AMDGPU target compiles a hook; Wavesmith decodes what it made
// and puts it into kernels, with registers that are free there. A function below without a GPU instruction of its own becomes one: the
// constants are marks that Wavesmith replaces. docs/hooks.md describes points and limits.
#pragma once

#ifndef __device__
#define __device__
#endif

// A hook: `WAVESMITH_HOOK("before store") void stored() { … }`. It returns nothing; its point says what its arguments are:
// `WAVESMITH_HOOK("before store(address, size, 7, s4)") void stored(u64 address, u32 size, u32 seven, u32 s4) { … }`.
#define WAVESMITH_HOOK(point) extern "C" __attribute__((used, section(".wavesmith." point)))
// A hook that runs once for the wave, in its lane 0, whatever lanes are active: also where there are none.
#define WAVESMITH_WAVE_HOOK(point) extern "C" __attribute__((used, section(".wavesmith.wave " point)))
// A variable that hooks share and that is reported: `WAVESMITH_VARIABLE unsigned grid[3];`. It begins as zeros.
#define WAVESMITH_VARIABLE __attribute__((used, visibility("hidden"), address_space(1)))

#define WAVESMITH_MARK(type, instruction, constraint, number)          \
  {                                                                    \
    type value;                                                        \
    asm volatile(instruction " %0, " #number : "=" constraint(value)); \
    return value;                                                      \
  }
#define WAVESMITH_INLINE static inline __attribute__((always_inline, unused))

namespace wavesmith {

using u32 = unsigned;
using u64 = unsigned long long;
struct Dim3 {
  u32 x, y, z;
};

// clang-format off
// The dispatch packet and the kernel's arguments, as the kernel would see them.
using Constant32 = const __attribute__((address_space(4))) u32;
WAVESMITH_INLINE u64 dispatchPtr() WAVESMITH_MARK(u64, "s_mov_b64", "s", 0x57530001)
WAVESMITH_INLINE u64 kernargPtr() WAVESMITH_MARK(u64, "s_mov_b64", "s", 0x57530002)
// The cycle at which the wave began.
WAVESMITH_INLINE u64 startTime() WAVESMITH_MARK(u64, "s_mov_b64", "s", 0x57530003)
WAVESMITH_INLINE u32 workgroupIdX() WAVESMITH_MARK(u32, "s_mov_b32", "s", 0x57530004)
WAVESMITH_INLINE u32 workgroupIdY() WAVESMITH_MARK(u32, "s_mov_b32", "s", 0x57530005)
WAVESMITH_INLINE u32 workgroupIdZ() WAVESMITH_MARK(u32, "s_mov_b32", "s", 0x57530006)
// The address of the instruction that the hook is at, in the file.
WAVESMITH_INLINE u32 pc() WAVESMITH_MARK(u32, "s_mov_b32", "s", 0x57530007)
// The kernel's EXEC at the point: its active lanes.
WAVESMITH_INLINE u64 exec() WAVESMITH_MARK(u64, "s_mov_b64", "s", 0x57530008)
    // clang-format on
    // The arguments that a compiler adds behind a kernel's own; an error for a kernel without them.
    WAVESMITH_INLINE u64 implicitArgPtr() {
  u64 value;
  asm volatile("s_mov_b64 %0, 0x57530009" : "=s"(value) : : "scc");
  return value;
}
// Registers of the kernel, as they are at the point: `readVgpr<4>()` is v4 of this lane, `readSgpr<8>()` is s8.
template <int number>
WAVESMITH_INLINE u32 readVgpr() {
  static_assert(number >= 0 && number < 256, "vector registers are v0 to v255");
  u32 value;
  asm volatile("v_mov_b32 %0, %1" : "=v"(value) : "n"(0x57540000 + number));
  return value;
}
template <int number>
WAVESMITH_INLINE u32 readScalar() {
  static_assert((number >= 0 && number < 102) || number == 106 || number == 107 || number == 124,
                "scalar registers are s0 to s101, vcc_lo, vcc_hi and m0");
  u32 value;
  asm volatile("s_mov_b32 %0, %1" : "=s"(value) : "n"(0x57550000 + number));
  return value;
}
template <int number>
WAVESMITH_INLINE u32 readSgpr() {
  static_assert(number < 102, "scalar registers are s0 to s101");
  return readScalar<number>();
}

// The accumulation register a4 of this lane: `readAgpr<4>()`.
template <int number>
WAVESMITH_INLINE u32 readAgpr() {
  static_assert(number >= 0 && number < 256, "accumulation registers are a0 to a255");
  u32 value;
  asm volatile("v_mov_b32 %0, %1" : "=v"(value) : "n"(0x57540100 + number));
  return value;
}

// Writes a register of the kernel, which goes on with the value: `writeVgpr<4>(x)` in the lanes that are active, `writeSgpr<8>(x)`.
template <int number>
WAVESMITH_INLINE void writeVgpr(u32 value) {
  static_assert(number >= 0 && number < 256, "vector registers are v0 to v255");
  u32 unused;
  asm volatile("v_and_b32 %0, %2, %1" : "=v"(unused) : "v"(value), "n"(0x57560000 + number));
}
template <int number>
WAVESMITH_INLINE void writeAgpr(u32 value) {
  static_assert(number >= 0 && number < 256, "accumulation registers are a0 to a255");
  u32 unused;
  asm volatile("v_and_b32 %0, %2, %1" : "=v"(unused) : "v"(value), "n"(0x57560100 + number));
}
template <int number>
WAVESMITH_INLINE void writeScalar(u32 value) {
  static_assert((number >= 0 && number < 102) || number == 106 || number == 107 || number == 124,
                "scalar registers are s0 to s101, vcc_lo, vcc_hi and m0");
  u32 unused;
  asm volatile("s_and_b32 %0, %1, %2"
               : "=s"(unused)
               : "s"(__builtin_amdgcn_readfirstlane(value)), "n"(0x57560000 + number)
               : "scc");
}
template <int number>
WAVESMITH_INLINE void writeSgpr(u32 value) {
  static_assert(number < 102, "scalar registers are s0 to s101");
  writeScalar<number>(value);
}

// The same by the name of a register: `readReg<v(4)>()`, `writeReg<s(8)>(x)`, `readReg<a(0)>()`, `readReg<vcc_lo>()`.
constexpr int v(int number) { return 0x1000 + number; }
constexpr int a(int number) { return 0x2000 + number; }
constexpr int s(int number) { return number; }
constexpr int vcc_lo = 106, vcc_hi = 107, m0 = 124;
template <int name>
WAVESMITH_INLINE u32 readReg() {
  if constexpr (name >= 0x2000) {
    return readAgpr<name - 0x2000>();
  } else if constexpr (name >= 0x1000) {
    return readVgpr<name - 0x1000>();
  } else {
    return readScalar<name>();
  }
}
template <int name>
WAVESMITH_INLINE void writeReg(u32 value) {
  if constexpr (name >= 0x2000) {
    writeAgpr<name - 0x2000>(value);
  } else if constexpr (name >= 0x1000) {
    writeVgpr<name - 0x1000>(value);
  } else {
    writeScalar<name>(value);
  }
}

// Writes the kernel's EXEC: these lanes are active behind the hook. The hook itself goes on in the lanes that it began with.
WAVESMITH_INLINE void writeExec(u64 mask) {
  u32 unused;
  asm volatile("s_and_b32 %0, %1, %2"
               : "=s"(unused)
               : "s"(__builtin_amdgcn_readfirstlane(static_cast<u32>(mask))), "n"(0x5756fffe)
               : "scc");
  asm volatile("s_and_b32 %0, %1, %2"
               : "=s"(unused)
               : "s"(__builtin_amdgcn_readfirstlane(static_cast<u32>(mask >> 32))), "n"(0x5756ffff)
               : "scc");
}
WAVESMITH_INLINE u32 laneId() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
WAVESMITH_INLINE Dim3 workgroupId() { return {workgroupIdX(), workgroupIdY(), workgroupIdZ()}; }
// Source: HSA Runtime Specification 1.2, "Kernel dispatch packet".
WAVESMITH_INLINE Dim3 gridSize() {
  auto* const packet = reinterpret_cast<Constant32*>(dispatchPtr());
  return {packet[3], packet[4], packet[5]};
}
WAVESMITH_INLINE Dim3 blockDim() {
  auto* const packet = reinterpret_cast<Constant32*>(dispatchPtr());
  return {packet[1] & 0xffff, packet[1] >> 16, packet[2] & 0xffff};
}
WAVESMITH_INLINE Dim3 gridDim() {
  const Dim3 grid = gridSize(), block = blockDim();
  return {(grid.x + block.x - 1) / block.x, (grid.y + block.y - 1) / block.y, (grid.z + block.z - 1) / block.z};
}

// At once in memory, without sign; for every active lane.
#define WAVESMITH_ATOMIC(name, operation)                                                  \
  WAVESMITH_INLINE void name(__attribute__((address_space(1))) u64* to, u64 value) {       \
    __scoped_atomic_fetch_##operation(to, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); \
  }                                                                                        \
  WAVESMITH_INLINE void name(__attribute__((address_space(1))) u32* to, u32 value) {       \
    __scoped_atomic_fetch_##operation(to, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); \
  }
WAVESMITH_ATOMIC(atomicAdd, add)
WAVESMITH_ATOMIC(atomicSub, sub)
WAVESMITH_ATOMIC(atomicMax, max)
WAVESMITH_ATOMIC(atomicMin, min)
WAVESMITH_ATOMIC(atomicAnd, and)
WAVESMITH_ATOMIC(atomicOr, or)
WAVESMITH_ATOMIC(atomicXor, xor)
#undef WAVESMITH_ATOMIC

}  // namespace wavesmith
