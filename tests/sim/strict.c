// Kernels for strict mode's tests: each uses another mix of memory operations, and none has a mistake.
#include "../../examples/kernel.h"

/* Indirect loads: the address of one is the result of another. */
KERNEL void gather(GLOBAL uint *out, const GLOBAL uint *index, const GLOBAL uint *table, uint n) {
  uint i = global_id();
  if (i < n) out[i] = table[index[i] % n] + table[index[(i + 1) % n] % n];
}

/* Inclusive prefix sums of a workgroup in LDS. */
KERNEL void scan(GLOBAL uint *out, const GLOBAL uint *in) {
  SHARED uint sums[256];
  uint id = local_id();
  sums[id] = in[global_id()];
  barrier();
  for (uint step = 1; step < 256; step *= 2) {
    uint other = id >= step ? sums[id - step] : 0;
    barrier();
    sums[id] += other;
    barrier();
  }
  out[global_id()] = sums[id];
}

/* A private array indexed by a value: scratch. */
KERNEL void permute(GLOBAL uint *out, const GLOBAL uint *in) {
  uint values[16];
  for (uint k = 0; k < 16; k++) values[k] = in[global_id() * 16 + k];
  uint sum = 0;
  for (uint k = 0; k < 16; k++) sum = sum * 3 + values[(values[k] + k) % 16];
  out[global_id()] = sum;
}

/* Generic pointers that may be LDS or global: flat instructions. */
__attribute__((noinline)) static uint total(const uint *p, uint n) {
  uint sum = 0;
  for (uint k = 0; k < n; k++) sum += p[k];
  return sum;
}
KERNEL void generic(GLOBAL uint *out, const GLOBAL uint *in) {
  SHARED uint copy[64];
  uint id = local_id();
  copy[id] = in[global_id()];
  barrier();
  out[global_id()] = total((id & 1) != 0 ? (const uint *)&copy[0] : (const uint *)&in[0], 8 + (id & 3));
}

/* One-dimensional stencil with a halo in LDS. */
KERNEL void stencil(GLOBAL float *out, const GLOBAL float *in, uint n) {
  SHARED float tile[66];
  uint id = local_id(), i = global_id();
  tile[id + 1] = in[i];
  if (id == 0) tile[0] = i == 0 ? 0.0f : in[i - 1];
  if (id == 63) tile[65] = i + 1 == n ? 0.0f : in[i + 1];
  barrier();
  out[i] = 0.25f * tile[id] + 0.5f * tile[id + 1] + 0.25f * tile[id + 2];
}

/* Many independent loads: partial vmcnt waits. Bytes and halves too. */
struct item { unsigned char a; unsigned short b; float c; };
KERNEL void mixed(GLOBAL float *out, const GLOBAL struct item *items, const GLOBAL float *w, uint n) {
  uint i = global_id();
  float sum = 0.0f;
  for (uint k = 0; k < 8; k++) {
    struct item it = items[(i * 8 + k) % n];
    sum += (float)it.a + (float)it.b * it.c * w[(i + k) % n];
  }
  out[i] = sum;
}

/* Scalar loads, loops over uniform data, 64-bit integers. */
KERNEL void uniform(GLOBAL unsigned long *out, const GLOBAL uint *table, uint n) {
  unsigned long sum = 0;
  for (uint k = 0; k < n; k++) sum = sum * 31 + table[k] * (unsigned long)table[n - 1 - k];
  out[global_id()] = sum + global_id();
}
