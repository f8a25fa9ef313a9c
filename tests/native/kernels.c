// Kernels of the HSA tests, in freestanding C.
// clang -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib -O2 kernels.c -o kernels.co
#define KERNEL __attribute__((amdgpu_kernel, visibility("default")))
#define GLOBAL __attribute__((address_space(1)))

GLOBAL __attribute__((visibility("default"))) int offset_of_all = 7;
GLOBAL __attribute__((visibility("default"))) int table[4] = {10, 20, 30, 40};

// Workgroups of 256, so that no hidden arguments are needed.
static inline int global_id(void) {
  return __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
}

KERNEL void empty(void) {}

KERNEL void scale(GLOBAL float *data, float factor, int count) {
  int i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
  if (i < count) data[i] *= factor;
}

KERNEL void triple_plus_one(GLOBAL float *data, float factor, int count) {
  int i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
  if (i < count) data[i] = data[i] * factor + 1.0f;
}

// data[i] += value; atomically, so that queues may share it.
KERNEL void add(GLOBAL int *data, int value, int count) {
  int i = global_id();
  if (i < count) __atomic_fetch_add(&data[i], value, __ATOMIC_RELAXED);
}

KERNEL void copy(GLOBAL int *to, const GLOBAL int *from, int count) {
  int i = global_id();
  if (i < count) to[i] = from[i];
}

// to[i] = offset_of_all + table[i % 4]
KERNEL void read_globals(GLOBAL int *to, int count) {
  int i = global_id();
  if (i < count) to[i] = offset_of_all + table[i & 3];
}

KERNEL void write_global(int value) {
  if (global_id() == 0) offset_of_all = value;
}

// Runs for about `rounds` steps of every work-item.
KERNEL void burn(GLOBAL int *data, int rounds) {
  int value = data[0];
  for (int n = 0; n < rounds; n++) value = value * 1664525 + 1013904223;
  data[global_id()] = value;
}
