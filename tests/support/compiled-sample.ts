// C source that makes LLVM emit what disassemblers stumble over: globals in every section, LDS, tables of functions and
// strings, switches, device function calls, global offset table references, atomics, stack arrays, long branches.

export const COMPILED_SAMPLE = String.raw`
typedef unsigned u32;
typedef float f32x4 __attribute__((ext_vector_type(4)));
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected")))
#define GLOBAL __attribute__((address_space(1)))
#define CONSTANT __attribute__((address_space(4)))
#define LDS __attribute__((address_space(3)))
#define NOINLINE __attribute__((noinline))

GLOBAL int counter = 5;
GLOBAL int zeros[16];
static GLOBAL int hidden_array[4] = {1, 2, 3, 4};
GLOBAL int *GLOBAL pointer = (GLOBAL int *)&hidden_array[2];
GLOBAL int *GLOBAL other_pointer = (GLOBAL int *)&counter;
const CONSTANT float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static const CONSTANT char message[] = "a message with \"quotes\" and a tab\t";
__attribute__((visibility("default"))) GLOBAL int exported = 77;
__attribute__((visibility("default"))) extern GLOBAL int imported;
__attribute__((weak)) GLOBAL short weak_value = -3;
extern LDS int shared[64];

NOINLINE int helper(int x, int y) { return x * y + counter + hidden_array[x & 3]; }
static NOINLINE int remainder(int x, int y) { return x % y + zeros[y & 3]; }
NOINLINE long fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
typedef int (*operation)(int, int);
static const CONSTANT operation operations[2] = {helper, remainder};

KERNEL void dispatcher(GLOBAL int *out, int n, f32x4 scale, double d) {
  u32 i = __builtin_amdgcn_workitem_id_x();
  shared[i & 63] = n;
  __builtin_amdgcn_s_barrier();
  int v = shared[(i + 1) & 63];
  switch (n) {
    case 0: v += 3; break;
    case 1: v *= 7; break;
    case 2: v -= 9; break;
    case 3: v ^= 77; break;
    case 4: v = helper(v, n); break;
    case 5: v <<= 3; break;
    case 6: v = remainder(v, n); break;
    case 9: v = (int)fibonacci(v); break;
    default: v = (int)(table[n & 7] * scale.y + d);
  }
  out[i] = v + *pointer + *other_pointer + weak_value + message[i % sizeof message];
  __atomic_fetch_add(&out[0], v, __ATOMIC_RELAXED);
}

KERNEL void caller(GLOBAL int *out, int n) {
  int local[16];
  for (int i = 0; i < 16; i++) local[i] = out[i] * n;
  out[1] = operations[n & 1](n, 3) + exported + imported + local[n & 15];
}

KERNEL void matrix(GLOBAL f32x4 *out, float a, float b) {
  f32x4 sum = out[0];
  for (int i = 0; i < 8; i++) sum = __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, sum, 0, 0, 0);
  out[__builtin_amdgcn_workitem_id_x()] = sum;
}

KERNEL void empty(void) {}
`;
