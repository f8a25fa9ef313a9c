// Long code for `bench sim-first`: unrolled loops with hundreds of branches.
#include "../examples/kernel.h"

#define TIMES_4(x) x x x x
#define TIMES_16(x) TIMES_4(TIMES_4(x))
#define TIMES_256(x) TIMES_16(TIMES_16(x))

/* 256 branches in a loop, 34 KB. */
KERNEL void branches(GLOBAL uint *out, const GLOBAL uint *in, uint each, uint n) {
  uint s = local_id();
  for (uint k = 0; k < each; k++) {
    TIMES_256(if (s & 32) s = s * 3 + in[(s + k) & (n - 1)]; else if (s & 1) s ^= out[s & 1023]; else s += 77;)
  }
  out[global_id()] = s;
}

/* 1,024 branches that are executed once, 92 KB. */
KERNEL void branches_once(GLOBAL uint *out, const GLOBAL uint *in, uint each, uint n) {
  uint s = local_id();
  TIMES_256(TIMES_4(s = s * 3 + in[(s + 5) & (n - 1)]; s ^= s >> 5; if (s > 77777777) s -= in[s & 1023];))
  out[global_id()] = s + each;
}
