// What the compiled kernels with a known limiter share: address spaces, ids, a barrier, a hash.
typedef unsigned int u32;
typedef float float4 __attribute__((ext_vector_type(4)));
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3), loader_uninitialized))
#define KERNEL(threads) __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(threads, threads)))
#define NOUNROLL _Pragma("clang loop unroll(disable)")
#define T __builtin_amdgcn_workitem_id_x()
#define G __builtin_amdgcn_workgroup_id_x()
#define MB (1u << 20)

static inline void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
static inline u32 hash(u32 x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}
