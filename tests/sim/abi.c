// Kernels that exercise the kernel ABI: ids, sizes, scratch, calls, LDS, apertures, traps and faults.
typedef unsigned int u32;
#define KERNEL __attribute__((amdgpu_kernel, visibility("default"), amdgpu_flat_work_group_size(1, 1024)))
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))

static u32 flat_id(void) {
  u32 x = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  return x;
}

// One record of 8 words per work-item: ids and sizes. Workgroups of 32 × 4 × 1.
KERNEL void ids(GLOBAL u32 *out, u32 width, u32 height) {
  u32 x = __builtin_amdgcn_workgroup_id_x() * 32 + __builtin_amdgcn_workitem_id_x();
  u32 y = __builtin_amdgcn_workgroup_id_y() * 4 + __builtin_amdgcn_workitem_id_y();
  u32 z = __builtin_amdgcn_workgroup_id_z() + __builtin_amdgcn_workitem_id_z();
  if (x >= width || y >= height) return;
  GLOBAL u32 *r = out + 8 * ((z * height + y) * width + x);
  r[0] = x; r[1] = y; r[2] = z;
  r[3] = __builtin_amdgcn_workgroup_size_x(); r[4] = __builtin_amdgcn_workgroup_size_y();
  r[5] = __builtin_amdgcn_grid_size_x(); r[6] = __builtin_amdgcn_grid_size_y(); r[7] = 1;
}

// A table in scratch, indexed by data, and pointers to it through the flat aperture.
__attribute__((noinline)) static u32 pick(const u32 *table, u32 i) { return table[i & 15] + 1; }
KERNEL void scratch(GLOBAL u32 *out, const GLOBAL u32 *in) {
  u32 i = flat_id();
  volatile u32 table[16];
  for (u32 k = 0; k < 16; k++) table[(k + i) & 15] = k * 10 + in[i];
  out[i] = pick((const u32 *)table, in[i]);
}

// Recursion: the stack grows at run time.
__attribute__((noinline)) static u32 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
KERNEL void recursion(GLOBAL u32 *out) {
  u32 i = flat_id();
  out[i] = fibonacci(i & 7);
}

// LDS through a generic pointer, waves exchanging values across barriers.
LDS static u32 shared[256] __attribute__((loader_uninitialized));
KERNEL void exchange(GLOBAL u32 *out) {
  u32 i = __builtin_amdgcn_workitem_id_x(), n = __builtin_amdgcn_workgroup_size_x();
  u32 *generic = (u32 *)shared;
  generic[i] = i * i;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[i] = generic[n - 1 - i];
}

KERNEL void forever(GLOBAL volatile u32 *out) {
  while (1) out[0]++;
}
KERNEL void trap(GLOBAL u32 *out) {
  if (out[0] == 0) __builtin_trap();
  out[0] = 1;
}
