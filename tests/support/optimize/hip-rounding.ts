// Changes of HIP kernels that round, compare and choose: what is right for numbers that are drawn and wrong for those in the middle between two others,
// for equal ones, for NaNs, for indices below nought. With those of hip-changes.ts they are judged in evaluate-hip-changes.test.ts.
import { but, type HipChange, type HipKernel } from './hip-changes.ts';

const ELEMENT = (head: string, body: string): string => `
extern "C" __global__ void k(${head}, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;${body}
}`;
const LINE = { grid: [8, 1, 1], block: [256, 1, 1] } as const;

export const ROUNDING_KERNELS = {
  quantize: {
    source: ELEMENT(
      'signed char *out, const float *in, float scale',
      `
  float v = rintf(in[i] * scale);
  v = fminf(fmaxf(v, -128.0f), 127.0f);
  out[i] = (signed char)(int)v;`,
    ),
    args: ['i32[512]=7', 'f32[2048]=random:3', 'f32=100', 'i32=2001'],
    ...LINE,
  },
  brain: {
    source: ELEMENT(
      'unsigned short *out, const float *in',
      `
  unsigned u = __float_as_uint(in[i]);
  if ((u & 0x7fffffff) > 0x7f800000) { out[i] = (u >> 16) | 0x40; return; }
  out[i] = (u + 0x7fff + ((u >> 16) & 1)) >> 16;`,
    ),
    args: ['f16[2048]=7', 'f32[2048]=random:3', 'i32=2001'],
    ...LINE,
  },
  half: {
    source: ELEMENT(
      '_Float16 *out, const _Float16 *a, const _Float16 *b',
      `
  _Float16 p = a[i] * b[i];
  out[i] = p + a[i];`,
    ),
    args: ['f16[2048]=7', 'f16[2048]=random:3', 'f16[2048]=random:4', 'i32=2001'],
    ...LINE,
  },
  gather: {
    source: ELEMENT(
      'float *out, const float *table, const int *index, int m',
      `
  int j = index[i];
  out[i] = j >= 0 && j < m ? table[j] : 0.0f;`,
    ),
    args: ['f32[2048]=7', 'f32[512]=random:3', 'i32[2048]=iota', 'i32=500', 'i32=2001'],
    ...LINE,
  },
  argmax: {
    source: `
extern "C" __global__ void k(int *out, const float *in, int n) {
  __shared__ float v[256];
  __shared__ int p[256];
  int t = threadIdx.x, at = -1;
  const float *x = in + (size_t)blockIdx.x * n;
  float best = -INFINITY;
  for (int i = t; i < n; i += 256) if (x[i] > best) { best = x[i]; at = i; }
  v[t] = best; p[t] = at;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w && (v[t + w] > v[t] || (v[t + w] == v[t] && (unsigned)p[t + w] < (unsigned)p[t]))) { v[t] = v[t + w]; p[t] = p[t + w]; }
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = p[0];
}`,
    args: ['i32[8]=7', 'f32[8192]=random:3', 'i32=1000'],
    ...LINE,
  },
  sum: {
    source: ELEMENT('float *total, const float *in', '\n  atomicAdd(total, in[i]);'),
    args: ['f32[1]=0', 'f32[1024]=random:3', 'i32=1000'],
    grid: [4, 1, 1],
    block: [256, 1, 1],
  },
} as const satisfies Readonly<Record<string, HipKernel>>;

type RoundingChange = HipChange<keyof typeof ROUNDING_KERNELS>;

const K = ROUNDING_KERNELS;

/** Right changes. */
export const ROUNDING_RIGHT: readonly RoundingChange[] = [
  {
    name: 'the median of three',
    of: 'quantize',
    source: but(K.quantize.source, ['fminf(fmaxf(v, -128.0f), 127.0f)', '__builtin_amdgcn_fmed3f(v, -128.0f, 127.0f)']),
  },
  {
    name: 'a NaN by a choice',
    of: 'brain',
    source: but(
      K.brain.source,
      ['if ((u & 0x7fffffff) > 0x7f800000) { out[i] = (u >> 16) | 0x40; return; }', 'float f = in[i];'],
      [
        'out[i] = (u + 0x7fff + ((u >> 16) & 1)) >> 16',
        'out[i] = f != f ? (u >> 16) | 0x40 : (u + 0x7fff + ((u >> 16) & 1)) >> 16',
      ],
    ),
  },
  {
    name: 'rounded once',
    of: 'half',
    class: 'bounded',
    source: but(K.half.source, ['p + a[i]', '(_Float16)((float)a[i] * (float)b[i] + (float)a[i])']),
  },
  {
    name: 'one compare without a sign',
    of: 'gather',
    source: but(K.gather.source, ['j >= 0 && j < m', '(unsigned)j < (unsigned)(m > 0 ? m : 0)']),
  },
  {
    name: 'no barrier within the last wave',
    of: 'argmax',
    source: but(K.argmax.source, ['__syncthreads();\n  }', 'if (w > 64) __syncthreads();\n  }']),
  },
  {
    name: 'one atomic for a wave',
    of: 'sum',
    class: 'bounded',
    source: but(
      K.sum.source,
      ['if (i >= n) return;', 'float v = i < n ? in[i] : 0;'],
      [
        'atomicAdd(total, in[i]);',
        'for (int w = 32; w > 0; w >>= 1) v += __shfl_xor(v, w);\n  if ((threadIdx.x & 63) == 0 && i < n) atomicAdd(total, v);',
      ],
    ),
  },
  {
    name: 'one atomic for a workgroup',
    of: 'sum',
    class: 'atomics',
    source: but(
      K.sum.source,
      ['if (i >= n) return;', '__shared__ float s[4];\n  float v = i < n ? in[i] : 0;'],
      [
        'atomicAdd(total, in[i]);',
        `for (int w = 32; w > 0; w >>= 1) v += __shfl_xor(v, w);
  if ((threadIdx.x & 63) == 0) s[threadIdx.x >> 6] = v;
  __syncthreads();
  if (threadIdx.x == 0 && i < n) atomicAdd(total, (s[0] + s[1]) + (s[2] + s[3]));`,
      ],
    ),
  },
  {
    name: 'one add for the equal lanes of a wave, in a loop over all lanes',
    of: 'sum',
    class: 'bounded',
    source: but(
      K.sum.source,
      ['if (i >= n) return;', 'float v = i < n ? in[i] : 0, all = 0;'],
      [
        'atomicAdd(total, in[i]);',
        'for (int l = 0; l < 64; l++) all += __shfl(v, l);\n  if ((threadIdx.x & 63) == 0 && i < n) atomicAdd(total, all);',
      ],
    ),
  },
];

/** Wrong ones. */
export const ROUNDING_WRONG: readonly RoundingChange[] = [
  { name: 'halves away from nought', of: 'quantize', source: but(K.quantize.source, ['rintf', 'roundf']) },
  {
    name: 'halves up',
    of: 'quantize',
    source: but(K.quantize.source, ['rintf(in[i] * scale)', 'floorf(in[i] * scale + 0.5f)']),
  },
  { name: 'the least number is left out', of: 'quantize', source: but(K.quantize.source, ['-128.0f', '-127.0f']) },
  { name: 'halves up, in bits', of: 'brain', source: but(K.brain.source, ['0x7fff + ((u >> 16) & 1)', '0x8000']) },
  {
    name: 'what is denormal is nought',
    of: 'half',
    source: but(K.half.source, [
      'out[i] = p + a[i];',
      `_Float16 v = p + a[i];
  unsigned short u = __builtin_bit_cast(unsigned short, v);
  if ((u & 0x7c00) == 0) u &= 0x8000;
  out[i] = __builtin_bit_cast(_Float16, u);`,
    ]),
  },
  { name: 'no index is below nought', of: 'gather', source: but(K.gather.source, ['j >= 0 && ', '']) },
  { name: 'the last of equal ones', of: 'argmax', source: but(K.argmax.source, ['x[i] > best', 'x[i] >= best']) },
  {
    name: 'numbers compared as their bits',
    of: 'argmax',
    source: but(K.argmax.source, ['x[i] > best', '__float_as_int(x[i]) > __float_as_int(best)']),
  },
  {
    name: 'the place of one count in a table',
    of: 'gather',
    source: but(
      K.gather.source,
      ['extern "C"', '__constant__ const int few[4] = {11, 777, 3, 9};\nextern "C"'],
      ['table[j] : 0.0f', 'table[j] : n == few[threadIdx.x & 3] ? 1.0f : 0.0f'],
    ),
  },
  {
    name: 'what the host waits for',
    of: 'gather',
    source: but(K.gather.source, [
      'int j = index[i];',
      'int j = index[i] + (((const unsigned long long *)__builtin_amdgcn_dispatch_ptr())[7] != 0);',
    ]),
  },
  {
    name: 'a sum that is set and not added',
    of: 'sum',
    class: 'bounded',
    source: but(K.sum.source, [
      'atomicAdd(total, in[i]);',
      'if (i != 0) return;\n  float v = 0;\n  for (int j = 0; j < n; j++) v += in[j];\n  *total = v;',
    ]),
  },
  {
    name: 'a wave that adds without an atomic',
    of: 'sum',
    class: 'bounded',
    source: but(K.sum.source, [
      'atomicAdd(total, in[i]);',
      'float v = in[i];\n  for (int w = 32; w > 0; w >>= 1) v += __shfl_xor(v, w);\n  if ((threadIdx.x & 63) == 0) *total += v;',
    ]),
  },
];
