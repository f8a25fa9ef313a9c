// Kernels of the simulator's benchmark. The same source is compiled for the GPU and, with main, for the host: `sim-kernels NAME ITEMS`
// runs one kernel over that many work-items in one thread and prints nanoseconds.
typedef unsigned int u32;

static inline float valu(u32 i, float a, float b) {
  float x[8];
  for (int k = 0; k < 8; k++) x[k] = (float)(i + k);
#pragma clang loop unroll(disable)
  for (int n = 0; n < 2000; n++) {
    for (int r = 0; r < 8; r++)
      for (int k = 0; k < 8; k++) x[k] = __builtin_fmaf(x[k], a, b);
  }
  float sum = 0;
  for (int k = 0; k < 8; k++) sum += x[k];
  return sum;
}

static inline u32 branches(u32 i) {
  u32 x = i * 2654435761u + 12345u, steps = 0;
#pragma clang loop unroll(disable)
  while (steps < 500 && x != 1) {
    if (x & 1) x = x * 3 + 1;
    else if (x & 2) x = (x >> 1) ^ (x << 3);
    else x >>= 2;
    if ((x & 0xff) == 0x5a) x += steps;
    steps++;
  }
  return x + steps;
}

#ifdef __AMDGCN__
#define KERNEL __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(256, 256)))
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))
typedef float float4 __attribute__((ext_vector_type(4)));
#define ID (__builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x())

KERNEL void valu_kernel(GLOBAL float *out, GLOBAL const float *in) { out[ID] = valu(ID, in[0], in[1]); }
KERNEL void branch_kernel(GLOBAL u32 *out, GLOBAL const float *in) { out[ID] = branches(ID); }
KERNEL void copy_kernel(GLOBAL float4 *out, GLOBAL const float4 *in) {
  u32 base = __builtin_amdgcn_workgroup_id_x() * 4096 + __builtin_amdgcn_workitem_id_x();
  for (int k = 0; k < 16; k++) out[base + 256 * k] = in[base + 256 * k];
}
static LOCAL float shared[256] __attribute__((loader_uninitialized));
KERNEL void reduce_kernel(GLOBAL float *out, GLOBAL const float *in) {
  u32 t = __builtin_amdgcn_workitem_id_x();
  float sum = 0;
  for (int k = 0; k < 16; k++) sum += in[__builtin_amdgcn_workgroup_id_x() * 4096 + 256 * k + t];
  shared[t] = sum;
  for (u32 n = 128; n > 0; n >>= 1) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    if (t < n) shared[t] += shared[t + n];
  }
  if (t == 0) out[__builtin_amdgcn_workgroup_id_x()] = shared[0];
}
#else
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv) {
  if (argc < 3) return 1;
  u32 items = (u32)atoi(argv[2]);
  float *in = malloc(256ul * items + 64), *out = malloc(256ul * items + 64);
  memset(in, 0, 256ul * items + 64);
  memset(out, 1, 256ul * items + 64);
  in[0] = 0.5f;
  in[1] = 1.5f;
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  if (strcmp(argv[1], "valu") == 0) for (u32 i = 0; i < items; i++) out[i] = valu(i, in[0], in[1]);
  else if (strcmp(argv[1], "branch") == 0) for (u32 i = 0; i < items; i++) ((u32 *)out)[i] = branches(i);
  else if (strcmp(argv[1], "copy") == 0) memcpy(out, in, 256ul * items);
  else {
    for (u32 g = 0; g < items / 256; g++) {
      float sum = 0;
      for (u32 k = 0; k < 4096; k++) sum += in[g * 4096 + k];
      out[g] = sum;
    }
  }
  clock_gettime(CLOCK_MONOTONIC, &b);
  volatile float keep = out[items / 2];
  (void)keep;
  printf("%.0f\n", (b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec));
}
#endif
