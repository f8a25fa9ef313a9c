// Changes of kernels written in HIP, as people and models make them: each is compiled by clang, and its code object is judged beside the captured
// launch of the kernel that it changes. A right one says of which class it is; a wrong one may be rejected at any rung.
import type { EquivalenceClass } from '../../../src/optimize/index.ts';

/** A kernel `k` with the launch that is captured. */
export interface HipKernel {
  readonly source: string;
  readonly args: readonly string[];
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
}

/** Another source of it. */
export interface HipChange<Name extends string = keyof typeof HIP_KERNELS> {
  readonly name: string;
  readonly of: Name;
  readonly class?: EquivalenceClass;
  readonly source: string;
  /** More flags of the compiler. */
  readonly flags?: readonly string[];
}

const ROW = (body: string): string => `
extern "C" __global__ void k(float *out, const float *in, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  const float *row = in + (size_t)blockIdx.x * n;${body}
}`;
const TREE = `
  s[t] = sum;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];`;
const PLAIN_SUM = `
  float sum = 0;
  for (int i = t; i < n; i += 256) sum += row[i];`;

const MATMUL = (body: string, head = 'float *c, const float *a, const float *b, int n'): string => `
extern "C" __global__ void k(${head}) {
  int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;${body}
}`;
const TRANSPOSE = (body: string): string => `
extern "C" __global__ void k(int *out, const int *in, int w, int h) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;${body}
}`;
const SCALE = (body: string, head = 'float *out, const float *x, const float *y, float a, int n'): string => `
extern "C" __global__ void k(${head}) {
  int i = blockIdx.x * 256 + threadIdx.x;${body}
}`;
const STENCIL = (body: string): string => `
extern "C" __global__ void k(float *out, const float *in, int n) {
  int t = threadIdx.x, i = blockIdx.x * 256 + t;${body}
}`;
const HISTOGRAM = (body: string): string => `
extern "C" __global__ void k(unsigned *bins, const unsigned char *in, int n) {
  int t = threadIdx.x, i = blockIdx.x * 256 + t;${body}
}`;
const SOFTMAX = (body: string): string => `
extern "C" __global__ void k(float *out, const float *in, int n) {
  const float *x = in + (size_t)blockIdx.x * n;
  float *y = out + (size_t)blockIdx.x * n;
  int t = threadIdx.x;${body}
}`;
const WAVE = (name: string, op: string): string => `
  for (int w = 32; w > 0; w >>= 1) { float o = __shfl_xor(${name}, w); ${op} }`;
const MAXIMUM = `
  float m = -INFINITY;
  for (int i = t; i < n; i += 64) m = fmaxf(m, x[i]);${WAVE('m', 'm = fmaxf(m, o);')}`;
const SCAN = (body: string): string => `
extern "C" __global__ void k(int *out, const int *in, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;${body}
}`;
const POLYNOMIAL = (body: string): string => `
extern "C" __global__ void k(int *out, const int *in, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  int x = in[i];${body}
}`;

export const HIP_KERNELS = {
  scale: {
    source: SCALE('\n  if (i < n) out[i] = a * x[i] + y[i];'),
    args: ['f32[2048]=7', 'f32[2048]=random:3', 'f32[2048]=random:4', 'f32=1.5', 'i32=2001'],
    grid: [8, 1, 1],
    block: [256, 1, 1],
  },
  rows: {
    source: ROW(PLAIN_SUM + TREE),
    args: ['f32[8]=7', 'f32[8192]=random:3', 'i32=1000'],
    grid: [8, 1, 1],
    block: [256, 1, 1],
  },
  transpose: {
    source: TRANSPOSE('\n  if (x < w && y < h) out[x * h + y] = in[y * w + x];'),
    args: ['i32[4096]=7', 'i32[4096]=random:3', 'i32=60', 'i32=50'],
    grid: [4, 4, 1],
    block: [16, 16, 1],
  },
  matmul: {
    source: MATMUL(`
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int i = 0; i < n; i++) sum += a[row * n + i] * b[i * n + col];
  c[row * n + col] = sum;`),
    args: ['f32[2304]=7', 'f32[2304]=random:3', 'f32[2304]=random:4', 'i32=45'],
    grid: [3, 3, 1],
    block: [16, 16, 1],
  },
  stencil: {
    source: STENCIL(`
  if (i < 1 || i >= n - 1) return;
  out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];`),
    args: ['f32[2048]=7', 'f32[2048]=random:3', 'i32=2000'],
    grid: [8, 1, 1],
    block: [256, 1, 1],
  },
  histogram: {
    source: HISTOGRAM('\n  if (i < n) atomicAdd(&bins[in[i] & 63], 1u);'),
    args: ['i32[64]=0', 'i32[512]=random:3', 'i32=2000'],
    grid: [8, 1, 1],
    block: [256, 1, 1],
  },
  softmax: {
    source: SOFTMAX(`${MAXIMUM}
  float sum = 0;
  for (int i = t; i < n; i += 64) sum += __expf(x[i] - m);${WAVE('sum', 'sum += o;')}
  for (int i = t; i < n; i += 64) y[i] = __expf(x[i] - m) / sum;`),
    args: ['f32[2048]=7', 'f32[2048]=random:3', 'i32=250'],
    grid: [8, 1, 1],
    block: [64, 1, 1],
  },
  scan: {
    source: SCAN(`
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < 256; d <<= 1) {
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (i < n) out[i] = s[t];`),
    args: ['i32[1024]=7', 'i32[1024]=random:3', 'i32=1000'],
    grid: [4, 1, 1],
    block: [256, 1, 1],
  },
  polynomial: {
    source: POLYNOMIAL(`
  int y = 0;
  for (int p = 8; p > 0; p--) y = y * x + p;
  out[i] = (x % 8 == 3) ? y / 16 : y * 10;`),
    args: ['i32[2048]=7', 'i32[2048]=random:3', 'i32=2001'],
    grid: [8, 1, 1],
    block: [256, 1, 1],
  },
} as const satisfies Readonly<Record<string, HipKernel>>;

const S = HIP_KERNELS;
/** A source with texts replaced. */
export function but(source: string, ...changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`'${from}' is not in the source`);
    return text.replaceAll(from, () => to);
  }, source);
}

/** Right changes. */
export const HIP_RIGHT: readonly HipChange[] = [
  { name: 'pointers that do not alias', of: 'scale', source: but(S.scale.source, ['float *', 'float *__restrict__ ']) },
  {
    name: 'the size of the workgroup promised',
    of: 'scale',
    source: but(S.scale.source, ['__global__', '__global__ __launch_bounds__(256)']),
  },
  { name: 'an early return', of: 'scale', source: but(S.scale.source, ['if (i < n)', 'if (i >= n) return;']) },
  {
    name: 'an explicit multiply-add',
    of: 'scale',
    source: but(S.scale.source, ['a * x[i] + y[i]', 'fmaf(a, x[i], y[i])']),
  },
  {
    name: 'an unsigned index',
    of: 'scale',
    source: but(S.scale.source, ['int i =', 'unsigned i ='], ['i < n', '(int)i < n']),
  },
  {
    name: 'loads and stores that no cache keeps',
    of: 'scale',
    source: SCALE(`
  if (i < n) __builtin_nontemporal_store(a * __builtin_nontemporal_load(x + i) + y[i], out + i);`),
  },
  {
    name: 'four elements for each of a quarter of the work-items',
    of: 'scale',
    source: SCALE(`
  int base = blockIdx.x * 256 + 4 * threadIdx.x;
  if (threadIdx.x >= 64) return;
  if (base + 3 < n) {
    for (int j = 0; j < 4; j++) out[base + j] = a * x[base + j] + y[base + j];
  } else
    for (int j = base; j < n; j++) out[j] = a * x[j] + y[j];`),
  },
  {
    name: 'clamped loads in the place of a branch',
    of: 'scale',
    source: SCALE(`
  int j = i < n ? i : 0;
  float v = a * x[j] + y[j];
  if (i < n) out[i] = v;`),
  },
  { name: 'a smaller optimisation', of: 'scale', source: S.scale.source, flags: ['-Os'] },
  {
    name: 'the last 64 sums by exchange in a wave',
    of: 'rows',
    source: ROW(`${PLAIN_SUM}
  s[t] = sum;
  __syncthreads();
  if (t < 128) s[t] += s[t + 128];
  __syncthreads();
  if (t < 64) {
    float v = s[t] + s[t + 64];
    for (int w = 32; w > 0; w >>= 1) v += __shfl_down(v, w);
    if (t == 0) out[blockIdx.x] = v;
  }`),
  },
  {
    name: 'four sums for each work-item',
    of: 'rows',
    class: 'bounded',
    source: ROW(`
  float p[4] = {0, 0, 0, 0};
  int i = t;
  for (; i + 768 < n; i += 1024)
    for (int j = 0; j < 4; j++) p[j] += row[i + 256 * j];
  for (; i < n; i += 256) p[0] += row[i];
  float sum = (p[0] + p[1]) + (p[2] + p[3]);${TREE}`),
  },
  {
    name: 'the loop unrolled',
    of: 'rows',
    source: but(S.rows.source, ['for (int i = t;', '#pragma unroll 4\n  for (int i = t;']),
  },
  {
    name: 'waves first, then their sums',
    of: 'rows',
    class: 'bounded',
    source: ROW(`${PLAIN_SUM}
  for (int w = 32; w > 0; w >>= 1) sum += __shfl_xor(sum, w);
  if ((t & 63) == 0) s[t >> 6] = sum;
  __syncthreads();
  if (t == 0) out[blockIdx.x] = s[0] + s[1] + s[2] + s[3];`),
  },
  {
    name: 'neighbours in the place of halves',
    of: 'rows',
    class: 'bounded',
    source: but(
      S.rows.source,
      ['int w = 128; w > 0; w >>= 1', 'int w = 1; w < 256; w <<= 1'],
      ['t < w', 't % (2 * w) == 0'],
    ),
  },
  {
    name: 'sums in double precision',
    of: 'rows',
    class: 'bounded',
    source: ROW(`
  double d = 0;
  for (int i = t; i < n; i += 256) d += row[i];
  float sum = (float)d;${TREE}`),
  },
  {
    name: 'a tile in LDS',
    of: 'transpose',
    source: TRANSPOSE(`
  __shared__ int tile[16][17];
  if (x < w && y < h) tile[threadIdx.y][threadIdx.x] = in[y * w + x];
  __syncthreads();
  x = blockIdx.x * 16 + threadIdx.y, y = blockIdx.y * 16 + threadIdx.x;
  if (x < w && y < h) out[x * h + y] = tile[threadIdx.x][threadIdx.y];`),
  },
  {
    name: 'reads across and writes along',
    of: 'transpose',
    source: TRANSPOSE(`
  x = blockIdx.x * 16 + threadIdx.y, y = blockIdx.y * 16 + threadIdx.x;
  if (x < w && y < h) out[x * h + y] = in[y * w + x];`),
  },
  {
    name: 'tiles in LDS, sums in their order',
    of: 'matmul',
    source: MATMUL(`
  __shared__ float p[16][16], q[16][17];
  int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int base = 0; base < n; base += 16) {
    if (row < n && base + x < n) p[y][x] = a[row * n + base + x];
    if (col < n && base + y < n) q[y][x] = b[(base + y) * n + col];
    __syncthreads();
    int most = n - base < 16 ? n - base : 16;
    if (row < n && col < n)
      for (int i = 0; i < most; i++) sum += p[y][i] * q[i][x];
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;`),
  },
  {
    name: 'the loop over terms unrolled by eight',
    of: 'matmul',
    source: but(S.matmul.source, ['for (int i = 0; i < n; i++)', '#pragma unroll 8\n  for (int i = 0; i < n; i++)']),
  },
  {
    name: 'even and odd terms apart',
    of: 'matmul',
    class: 'bounded',
    source: MATMUL(`
  if (row >= n || col >= n) return;
  float even = 0, odd = 0;
  int i = 0;
  for (; i + 1 < n; i += 2) {
    even += a[row * n + i] * b[i * n + col];
    odd += a[row * n + i + 1] * b[(i + 1) * n + col];
  }
  if (i < n) even += a[row * n + i] * b[i * n + col];
  c[row * n + col] = even + odd;`),
  },
  {
    name: 'pointers that step',
    of: 'matmul',
    source: MATMUL(`
  if (row >= n || col >= n) return;
  float sum = 0;
  const float *p = a + row * n, *q = b + col, *end = p + n;
  for (; p != end && p < end; p++, q += n) sum += *p * *q;
  c[row * n + col] = sum;`),
  },
  {
    name: 'terms from the last to the first',
    of: 'matmul',
    class: 'bounded',
    source: but(S.matmul.source, ['int i = 0; i < n; i++', 'int i = n - 1; i >= 0; i--']),
  },
  {
    name: 'products and sums rounded apart',
    of: 'matmul',
    class: 'bounded',
    source: S.matmul.source,
    flags: ['-ffp-contract=off'],
  },
  {
    name: 'values in LDS once',
    of: 'stencil',
    source: STENCIL(`
  __shared__ float s[258];
  if (i < n) s[t + 1] = in[i];
  if (t == 0 && i > 0 && i <= n) s[0] = in[i - 1];
  if (t == 255 && i + 1 < n) s[257] = in[i + 1];
  __syncthreads();
  if (i < 1 || i >= n - 1) return;
  out[i] = 0.25f * s[t] + 0.5f * s[t + 1] + 0.25f * s[t + 2];`),
  },
  {
    name: 'the outer values together',
    of: 'stencil',
    class: 'bounded',
    source: but(S.stencil.source, [
      '0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1]',
      '0.25f * (in[i - 1] + in[i + 1]) + 0.5f * in[i]',
    ]),
  },
  {
    name: 'counts in LDS',
    of: 'histogram',
    source: HISTOGRAM(`
  __shared__ unsigned s[64];
  if (t < 64) s[t] = 0;
  __syncthreads();
  if (i < n) atomicAdd(&s[in[i] & 63], 1u);
  __syncthreads();
  if (t < 64 && s[t] != 0) atomicAdd(&bins[t], s[t]);`),
  },
  {
    name: 'each exponential once',
    of: 'softmax',
    source: SOFTMAX(`${MAXIMUM}
  float sum = 0;
  for (int i = t; i < n; i += 64) sum += y[i] = __expf(x[i] - m);${WAVE('sum', 'sum += o;')}
  for (int i = t; i < n; i += 64) y[i] = y[i] / sum;`),
  },
  {
    name: 'a reciprocal for all of a row',
    of: 'softmax',
    class: 'bounded',
    source: but(S.softmax.source, ['y[i] = __expf(x[i] - m) / sum', 'y[i] = __expf(x[i] - m) * (1.0f / sum)']),
  },
  {
    name: 'prefix sums in waves',
    of: 'scan',
    source: SCAN(`
  int v = i < n ? in[i] : 0, lane = t & 63;
  for (int d = 1; d < 64; d <<= 1) {
    int o = __shfl_up(v, d);
    if (lane >= d) v += o;
  }
  if (lane == 63) s[t >> 6] = v;
  __syncthreads();
  for (int j = 0; j < t >> 6; j++) v += s[j];
  if (i < n) out[i] = v;`),
  },
  {
    name: 'two buffers and one barrier a step',
    of: 'scan',
    source: SCAN(`
  __shared__ int r[256];
  int *from = s, *to = r;
  from[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < 256; d <<= 1) {
    to[t] = from[t] + (t >= d ? from[t - d] : 0);
    __syncthreads();
    int *kept = from;
    from = to, to = kept;
  }
  if (i < n) out[i] = from[t];`),
  },
  {
    name: 'a chain of powers in another order',
    of: 'polynomial',
    source: POLYNOMIAL(`
  unsigned u = x, u2 = u * u, u4 = u2 * u2;
  unsigned y = (1u + 2u * u) + (3u + 4u * u) * u2 + ((5u + 6u * u) + (7u + 8u * u) * u2) * u4;
  out[i] = (x % 8 == 3) ? (int)y / 16 : (int)(y * 10u);`),
  },
  {
    name: 'both sides and a choice',
    of: 'polynomial',
    source: POLYNOMIAL(`
  unsigned y = 0;
#pragma unroll
  for (unsigned p = 8; p > 0; p--) y = y * (unsigned)x + p;
  int less = (int)y / 16, more = (int)((y << 3) + (y << 1));
  out[i] = x > 0 && (x & 7) == 3 ? less : more;`),
  },
];

/** Wrong ones. */
export const HIP_WRONG: readonly HipChange[] = [
  { name: 'whole tiles only', of: 'transpose', source: TRANSPOSE('\n  out[x * h + y] = in[y * w + x];') },
  {
    name: 'a tile without its barrier',
    of: 'transpose',
    source: TRANSPOSE(`
  __shared__ int tile[16][17];
  if (x < w && y < h) tile[threadIdx.y][threadIdx.x] = in[y * w + x];
  x = blockIdx.x * 16 + threadIdx.y, y = blockIdx.y * 16 + threadIdx.x;
  if (x < w && y < h) out[x * h + y] = tile[threadIdx.x][threadIdx.y];`),
  },
  {
    name: 'height and width taken for equal in one place',
    of: 'transpose',
    source: TRANSPOSE('\n  if (x < w && y < h) out[h == 50 ? x * 50 + y : x * w + y] = in[y * w + x];'),
  },
  {
    name: 'sums in half precision',
    of: 'rows',
    class: 'bounded',
    source: ROW(`
  _Float16 f = 0;
  for (int i = t; i < n; i += 256) f += (_Float16)row[i];
  float sum = (float)f;${TREE}`),
  },
  {
    name: 'terms of a row left out beyond a length',
    of: 'rows',
    class: 'bounded',
    source: but(S.rows.source, ['i < n; i += 256', 'i < (n > 4000 ? 4000 : n); i += 256']),
  },
  {
    name: 'the last step in a wave without its exchange',
    of: 'rows',
    class: 'bounded',
    source: ROW(`${PLAIN_SUM}
  for (int w = 32; w > 1; w >>= 1) sum += __shfl_xor(sum, w);
  if ((t & 63) == 0) s[t >> 6] = sum;
  __syncthreads();
  if (t == 0) out[blockIdx.x] = s[0] + s[1] + s[2] + s[3];`),
  },
  {
    name: 'no barrier between waves that add',
    of: 'rows',
    source: ROW(`${PLAIN_SUM}
  s[t] = sum;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) if (t < w) ((volatile float *)s)[t] += ((volatile float *)s)[t + w];
  if (t == 0) out[blockIdx.x] = s[0];`),
  },
  {
    name: 'every row is as the first',
    of: 'rows',
    source: but(S.rows.source, ['(size_t)blockIdx.x * n', '(size_t)(blockIdx.x & 7) * (n < 1000 ? n : 1000)']),
  },
  {
    name: 'factors of sixteen bits',
    of: 'matmul',
    class: 'bounded',
    source: but(S.matmul.source, [
      'a[row * n + i] * b[i * n + col]',
      '(float)((_Float16)a[row * n + i]) * b[i * n + col]',
    ]),
  },
  {
    name: 'a product that is small is left out',
    of: 'matmul',
    class: 'bounded',
    source: but(S.matmul.source, [
      'sum += a[row * n + i] * b[i * n + col];',
      '{ float p = a[row * n + i] * b[i * n + col]; if (fabsf(p) > 1e-3f) sum += p; }',
    ]),
  },
  {
    name: 'zeros skipped, and with them infinities and NaNs',
    of: 'matmul',
    source: but(S.matmul.source, [
      'sum += a[row * n + i] * b[i * n + col];',
      'if (a[row * n + i] != 0) sum += a[row * n + i] * b[i * n + col];',
    ]),
  },
  {
    name: 'the end of a stencil goes around',
    of: 'stencil',
    source: but(S.stencil.source, ['in[i + 1]', 'in[i + 1 < n - 1 ? i + 1 : 1]']),
  },
  {
    name: 'one value of the neighbours is stale where workgroups meet',
    of: 'stencil',
    source: STENCIL(`
  __shared__ float s[258];
  if (i < n) s[t + 1] = in[i];
  if (t == 255 && i + 1 < n) s[257] = in[i + 1];
  __syncthreads();
  if (i < 1 || i >= n - 1) return;
  out[i] = 0.25f * s[t] + 0.5f * s[t + 1] + 0.25f * s[t + 2];`),
  },
  {
    name: 'counts in bytes of LDS',
    of: 'histogram',
    source: HISTOGRAM(`
  __shared__ unsigned s[16];
  if (t < 16) s[t] = 0;
  __syncthreads();
  if (i < n) atomicAdd(&s[(in[i] & 63) >> 2], 1u << (8 * (in[i] & 3)));
  __syncthreads();
  if (t < 64) { unsigned c = (s[t >> 2] >> (8 * (t & 3))) & 255; if (c != 0) atomicAdd(&bins[t], c); }`),
  },
  {
    name: 'counts without atomics in a wave',
    of: 'histogram',
    source: HISTOGRAM(`
  __shared__ unsigned s[64];
  if (t < 64) s[t] = 0;
  __syncthreads();
  if (i < n) s[in[i] & 63]++;
  __syncthreads();
  if (t < 64 && s[t] != 0) atomicAdd(&bins[t], s[t]);`),
  },
  {
    name: 'the bins are taken to be empty',
    of: 'histogram',
    source: HISTOGRAM(`
  if (i < n && atomicAdd(&bins[in[i] & 63], 1u) > 100000u) bins[in[i] & 63] = 0;`),
  },
  {
    name: 'no maximum is taken off',
    of: 'softmax',
    class: 'bounded',
    source: but(S.softmax.source, ['x[i] - m', 'x[i]']),
  },
  {
    name: 'a row of at most 256',
    of: 'softmax',
    source: SOFTMAX(`
  float v[4], m = -INFINITY, sum = 0;
  for (int j = 0; j < 4; j++) { v[j] = 64 * j + t < n ? x[64 * j + t] : -INFINITY; m = fmaxf(m, v[j]); }${WAVE('m', 'm = fmaxf(m, o);')}
  for (int j = 0; j < 4; j++) { v[j] = __expf(v[j] - m); if (64 * j + t < n) sum += v[j]; }${WAVE('sum', 'sum += o;')}
  for (int j = 0; j < 4; j++) if (64 * j + t < n) y[64 * j + t] = v[j] / sum;`),
  },
  {
    name: 'one barrier less in the prefix sum',
    of: 'scan',
    source: but(S.scan.source, [
      'int v = t >= d ? s[t - d] : 0;\n    __syncthreads();',
      'int v = t >= d ? s[t - d] : 0;',
    ]),
  },
  {
    name: 'prefix sums within a wave only, as the data are small',
    of: 'scan',
    source: SCAN(`
  int v = i < n ? in[i] : 0, lane = t & 63;
  for (int d = 1; d < 64; d <<= 1) {
    int o = __shfl_up(v, d);
    if (lane >= d) v += o;
  }
  if (lane == 63) s[t >> 6] = v;
  __syncthreads();
  for (int j = 0; j < (t >> 6) - 1; j++) v += s[j];
  if (i < n) out[i] = v;`),
  },
  {
    name: 'products of 24 bits',
    of: 'polynomial',
    source: but(S.polynomial.source, ['y * x + p', '__mul24(y, x) + p']),
  },
  {
    name: 'a shift in the place of the division of negative numbers',
    of: 'polynomial',
    source: but(S.polynomial.source, ['y / 16', 'y >> 4']),
  },
  {
    name: 'a remainder by its low bits for negative numbers',
    of: 'polynomial',
    source: but(S.polynomial.source, ['x % 8 == 3', '(x & 7) == 3']),
  },
  {
    name: 'the answer for a known number from a table',
    of: 'polynomial',
    source: but(S.polynomial.source, ['int y = 0;', 'if (n == 2001 && x == 3) { out[i] = 0; return; }\n  int y = 0;']),
  },
  {
    name: 'a variable that remembers',
    of: 'scale',
    source: `__device__ float kept[2048];${SCALE('\n  if (i < n) { if (kept[i] == 0) kept[i] = a * x[i] + y[i]; out[i] = kept[i]; }')}`,
  },
  {
    name: 'a factor that is close to a number is that number',
    of: 'scale',
    source: but(S.scale.source, ['a * x[i]', '(fabsf(a - 1.5f) < 1e-6f ? 1.5f : a) * x[i]']),
  },
  {
    name: 'denormals flushed by the compiler',
    of: 'scale',
    source: S.scale.source,
    flags: ['-fgpu-flush-denormals-to-zero'],
  },
  {
    name: 'arithmetic that knows no NaN',
    of: 'stencil',
    source: but(S.stencil.source, ['out[i] =', 'float v ='], ['in[i + 1];', 'in[i + 1]; out[i] = v == v ? v : 0;']),
  },
];
