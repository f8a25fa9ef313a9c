// Places of `__shared__` variables, which LLVM does not describe: kernels that clang compiled write where theirs are, and the debugger's answer
// must be that, or none.
import { expect, test } from 'vitest';
import { randomNumbers } from '../src/base/index.ts';
import { debugInfo } from '../src/codeobject/elf/debug-info.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import { SimDevice } from '../src/device/sim/sim-device.ts';
import { compileC, hasLlvm, linkWithLld } from './support/build.ts';

const KERNELS = 60;
const TYPES = ['char', 'short', 'int', 'float', 'double', 'char', 'struct mixed', 'vec4', 'vec3', 'struct wide'];
const GLOBALS = `
LDS float everywhere[9];
LDS struct far apart;
`;
const HEAD = `
#define LDS __attribute__((address_space(3), loader_uninitialized))
#define LDS_POINTER __attribute__((address_space(3))) char *
typedef float vec4 __attribute__((ext_vector_type(4)));
typedef float vec3 __attribute__((ext_vector_type(3)));
struct mixed { char c; short s; };
struct wide { char c; double d; };
struct __attribute__((aligned(32))) far { int x; };
static inline __attribute__((always_inline)) void inner(__attribute__((address_space(1))) unsigned *out, int at) {
  static LDS int inlined[5];
  inlined[at & 3] = at;
  out[at] = (unsigned)(LDS_POINTER)&inlined;
}
`;
/** Functions that are called: two with variables of their own, one that calls one of them, one without. */
const FUNCTIONS = `
#define CALLED static __attribute__((noinline)) void
typedef __attribute__((address_space(1))) unsigned *words;
CALLED parts(words out, int at) { static LDS float part[7]; static LDS char flag; out[at] = (unsigned)(LDS_POINTER)&part; out[at + 1] = (unsigned)(LDS_POINTER)&flag; }
CALLED wide(words out, int at) { static LDS double sum[3]; parts(out, at + 1); out[at] = (unsigned)(LDS_POINTER)&sum; }
CALLED plain(words out, int at) { out[at] = at; }
CALLED hidden(words out, int at) { static LDS int behind[5]; out[at] = (unsigned)(LDS_POINTER)&behind; }
static void (*const __attribute__((address_space(4))) table[2])(words, int) = {hidden, plain};
CALLED pointed(words out, int at) { table[out[63] & 1](out, at); }
`;
/** What the functions write from a place on. */
const CALLS = { parts: ['part', 'flag'], wide: ['sum', 'part', 'flag'], plain: [] } as const;
/** The same by way of a pointer. */
const POINTED = { pointed: ['behind'] } as const;

interface Sort {
  readonly hasGlobals: boolean;
  /** One kernel in so many kernels calls each function; 0: none does. */
  readonly calls: number;
  readonly hasPointers?: boolean;
}

interface Written {
  readonly source: string;
  /** Names, in the order in which the kernel writes their offsets. */
  readonly names: readonly string[];
  /** Declared, and not used. */
  readonly unused: readonly string[];
}

/** A kernel with one to six variables of its own, and now and then one of the whole program, one of an inlined function, one that it does not use. */
function kernel(name: string, { hasGlobals, calls, hasPointers }: Sort, random: () => number): Written {
  const below = (n: number): number => Math.floor(random() * n);
  const names: string[] = [];
  const unused: string[] = [];
  const lines: string[] = [];
  const count = 1 + below(6);
  for (let i = 0; i < count; i++) {
    const own = `${'zyxwvu'[below(6)]}${i}`;
    const aligned = below(8) === 0 ? '__attribute__((aligned(64))) ' : '';
    const length = below(3) === 0 ? '' : `[${1 + below(40)}]`;
    lines.push(`  static LDS ${aligned}${TYPES[below(TYPES.length)]} ${own}${length};`);
    if (below(10) === 0) unused.push(own);
    else names.push(own);
  }
  if (hasGlobals && below(3) === 0) names.push('everywhere');
  if (hasGlobals && below(5) === 0) names.push('apart');
  const writes = names.map((own, i) => `  out[${i}] = (unsigned)(LDS_POINTER)&${own};`);
  if (below(3) === 0) {
    writes.push(`  inner(out, ${names.length});`);
    names.push('inlined');
  }
  for (const [called, written] of Object.entries(hasPointers === true ? { ...CALLS, ...POINTED } : CALLS)) {
    if (calls === 0 || below(calls) !== 0) continue;
    writes.push(`  ${called}(out, ${names.length});`);
    names.push(...written);
  }
  const head = `__attribute__((amdgpu_kernel)) void ${name}(__attribute__((address_space(1))) unsigned *out) {`;
  return { source: [head, ...lines, ...writes, '}'].join('\n'), names, unused };
}

// Kernels have a variable that they do not use more often than programs do, and so do those with variables of the whole program.
const SORTS: readonly (readonly [string, Sort, number])[] = [
  ['variables of their own', { hasGlobals: false, calls: 0 }, 0.7],
  ['variables of the whole program', { hasGlobals: true, calls: 0 }, 0.3],
  ['functions that several call', { hasGlobals: false, calls: 2 }, 0.5],
  ['a function that few call', { hasGlobals: false, calls: 30 }, 0.6],
  ['all of these', { hasGlobals: true, calls: 3 }, 0.05],
  ['calls through pointers', { hasGlobals: false, calls: 4, hasPointers: true }, -1],
];

test.skipIf(!hasLlvm()).each([0, 1, 2].flatMap((level) => SORTS.map((sort) => [level, ...sort] as const)))(
  'clang -O%i, %s: what is said of a place is true',
  async (level, _, sort, least) => {
    const random = randomNumbers(level + 3);
    const kernels = Array.from({ length: KERNELS }, (_, i) => kernel(`k${i}`, sort, random));
    const source = HEAD + (sort.hasGlobals ? GLOBALS : '') + FUNCTIONS + kernels.map((one) => one.source).join('\n');
    const bytes = linkWithLld([compileC(source, 'gfx942', ['-g', `-O${level}`])]);
    const object = readCodeObject(bytes);
    const info = debugInfo(object.elf);
    const device = new SimDevice('gfx942', {});
    const loaded = device.load(bytes);
    const out = device.alloc(256, 'out');
    const calledCode = Object.keys({ ...CALLS, ...POINTED }).flatMap((name) => info?.entries(name) ?? []);
    let known = 0;
    let asked = 0;
    for (const [i, { names, unused }] of kernels.entries()) {
      await device.dispatch({ kernel: loaded.kernel(`k${i}`), grid: [1, 1, 1], block: [1, 1, 1], args: [out] });
      const truth = new Uint32Array(device.read(out).buffer);
      const { entry } = object.kernels.find(({ name }) => name === `k${i}`) ?? {};
      const begin = entry as number;
      const end = begin + Number(object.elf.symbols.find(({ name }) => name === `k${i}`)?.size);
      const said = new Map<string, { from: number; to: number }>();
      const own = Array.from({ length: (end - begin) / 4 }, (_, n) => begin + 4 * n);
      for (const pc of [...own, ...calledCode]) {
        const frames = info?.frames(pc).length ?? 0;
        for (const variable of Array.from({ length: frames }, (_, n) => info?.variables(pc, n) ?? []).flat()) {
          const place = variable.place(pc, begin);
          const from = place.kind === 'lds' ? place.offset : undefined;
          if (from !== undefined) said.set(variable.name, { from, to: from + variable.type.bytes });
        }
      }
      for (const [n, name] of names.entries()) {
        asked++;
        if (!said.has(name)) continue;
        known++;
        expect({ kernel: i, name, at: said.get(name)?.from }).toEqual({ kernel: i, name, at: truth[n] });
      }
      // A place of what has none lies where nothing is.
      const used = names.flatMap((name) => said.get(name) ?? []);
      for (const { from, to } of unused.flatMap((name) => said.get(name) ?? [])) {
        expect(used.filter((other) => other.from < to && from < other.to)).toEqual([]);
      }
    }
    device.close();
    expect(known / asked).toBeGreaterThan(least);
  },
);
