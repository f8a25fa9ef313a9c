// What the example kernels share: the AMDGPU kernel attribute, address spaces, ids. Freestanding C for
// clang -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib
#ifndef WAVESMITH_EXAMPLES_KERNEL_H
#define WAVESMITH_EXAMPLES_KERNEL_H

#define KERNEL __attribute__((amdgpu_kernel, visibility("default"), amdgpu_flat_work_group_size(1, 1024)))
#define GLOBAL __attribute__((address_space(1)))
// LDS is never initialised by a loader.
#define SHARED static __attribute__((address_space(3), loader_uninitialized))

typedef unsigned int uint;

static inline uint local_id(void) { return __builtin_amdgcn_workitem_id_x(); }
static inline uint group_id(void) { return __builtin_amdgcn_workgroup_id_x(); }
static inline uint local_size(void) { return __builtin_amdgcn_workgroup_size_x(); }
static inline uint global_id(void) { return group_id() * local_size() + local_id(); }
static inline void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

#endif
