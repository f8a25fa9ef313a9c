// Rung 1: to the host the candidate is the baseline. Same target, arguments, initial registers, kernels, variables; nothing that runs
// beside the kernel; LDS and registers that the hardware has.
import { type CodeObject, type ElfSymbol, formatProcessorAndFeatures, type Kernel } from '../../codeobject/index.ts';
import { isIdenticalKernel, proveKernel } from '../../equivalence/index.ts';
import { callDifference, rebuiltDifference } from '../../equivalence/interface.ts';
import { type TargetName, targetInfo } from '../../isa/index.ts';
import type { OwnLaunch } from './launches.ts';

/**
 * What breaks the contract, one sentence each. `dynamicLds`: bytes of the captured launch beyond the static size. `isRebuilt`: a compiler made
 * both of sources, so the registers that a kernel starts with and the hidden arguments that it asks for are the compiler's to choose. `launch`: how the
 * candidate is launched, when that is not as the baseline is.
 */
export function contractBreaks(
  baseline: CodeObject,
  candidate: CodeObject,
  kernelName: string,
  dynamicLds: number,
  isRebuilt = false,
  workgroup?: number,
  launch?: OwnLaunch,
): string[] {
  const [wanted, got] = [baseline, candidate].map((o) => formatProcessorAndFeatures(o.target));
  if (wanted !== got || baseline.target.xnack !== candidate.target.xnack) {
    return [`The candidate is for ${got}, the baseline for ${wanted}.`];
  }
  const breaks: string[] = [];
  if (candidate.isRelocatable) breaks.push('The candidate is not linked.');
  if (baseline.version !== candidate.version) {
    breaks.push(`The code object has version ${candidate.version}, the baseline ${baseline.version}.`);
  }
  breaks.push(...kernelBreaks(baseline, candidate, kernelName, dynamicLds, isRebuilt, workgroup, launch));
  if (breaks.length === 0) breaks.push(...otherKernels(baseline, candidate, kernelName));
  return [...breaks, ...fileBreaks(baseline, candidate, isRebuilt)];
}

function kernelBreaks(
  a: CodeObject,
  b: CodeObject,
  name: string,
  dynamicLds: number,
  isRebuilt: boolean,
  workgroup: number | undefined,
  launch: OwnLaunch | undefined,
): string[] {
  const [x, y] = [a, b].map((o) => o.kernels.find((k) => k.name === name));
  if (x === undefined) return [`The baseline has no kernel '${name}'.`];
  if (y === undefined) return [`The candidate has no kernel '${name}'.`];
  if (y.entry === undefined) return [`Kernel '${name}' has no code.`];
  const breaks: string[] = [];
  const info = targetInfo(b.target.processor as TargetName);
  const difference = isRebuilt ? rebuiltDifference(x, y, info, workgroup, launch?.block) : callDifference(x, y, info);
  if (difference !== undefined) breaks.push(`Kernel '${name}': ${difference}.`);
  const [p, q] = [x.descriptor?.rsrc1, y.descriptor?.rsrc1];
  for (const name of CONTROLS) {
    if (p !== undefined && q !== undefined && p[name] !== q[name])
      breaks.push(`Descriptor field ${name} of '${x.name}' is ${q[name]}, in the baseline ${p[name]}.`);
  }
  for (const key of CALLED) {
    const [was, is] = [x, y].map((k) => textOf(k.metadata?.raw.get(key)));
    if (was !== is)
      breaks.push(`The metadata's ${key} of '${name}' is ${is ?? 'absent'}, in the baseline ${was ?? 'absent'}.`);
  }
  const lds = Math.max(y.descriptor?.groupSegmentFixedSize ?? 0, y.metadata?.groupSegmentFixedSize ?? 0) + dynamicLds;
  if (lds > info.ldsBytes)
    breaks.push(`Kernel '${name}' needs ${lds} bytes of LDS; a workgroup can have ${info.ldsBytes}.`);
  if (y.metadata !== undefined && y.descriptor !== undefined) {
    for (const field of ['groupSegmentFixedSize', 'privateSegmentFixedSize'] as const) {
      if (y.metadata[field] === y.descriptor[field] || x.metadata?.[field] !== x.descriptor?.[field]) continue;
      breaks.push(
        `${field} of '${name}' is ${y.descriptor[field]} in the descriptor and ${y.metadata[field]} in the metadata.`,
      );
    }
  }
  return breaks;
}

/** Bits of the first resource word that are the host's and the driver's to choose. */
const CONTROLS = ['priority', 'priv', 'debugMode', 'bulky', 'cdbgUser', 'reserved'] as const;

/** Members of a kernel's metadata that change how it is launched. */
const CALLED = [
  '.kind',
  '.wavefront_size',
  '.uses_dynamic_stack',
  '.uniform_work_group_size',
  '.device_enqueue_symbol',
];

const textOf = (value: unknown): string | undefined => (value === undefined ? undefined : String(value));

/** Kernels that the capture says nothing about must be what they were. */
function otherKernels(a: CodeObject, b: CodeObject, name: string): string[] {
  const breaks: string[] = [];
  for (const before of a.kernels) {
    const { name: other } = before;
    if (other === name) continue;
    const after = b.kernels.find((k) => k.name === other);
    if (after === undefined) breaks.push(`The candidate has no kernel '${other}'.`);
    else if (!isIdenticalKernel(a, b, before, after)) {
      const { verdict, reason } = proveKernel(a, b, other, {
        limits: { milliseconds: Number.POSITIVE_INFINITY, megabytes: 120 },
      });
      if (verdict !== 'proved')
        breaks.push(`Kernel '${other}' was changed, and the capture is of '${name}': ${reason}`);
    }
  }
  for (const { name: added } of b.kernels) {
    if (!a.kernels.some((k: Kernel) => k.name === added)) breaks.push(`The candidate has another kernel, '${added}'.`);
  }
  return breaks;
}

const STT_OBJECT = 1;
const STB_LOCAL = 0;

/** Symbols that a host or another code object can see or must provide. */
function symbolsOf({ elf }: CodeObject): { readonly imports: Set<string>; readonly variables: Map<string, ElfSymbol> } {
  const imports = new Set<string>();
  const variables = new Map<string, ElfSymbol>();
  for (const symbol of [...elf.symbols, ...elf.dynamicSymbols]) {
    if (symbol.binding === STB_LOCAL || symbol.name === '') continue;
    if (symbol.sectionIndex === 0) imports.add(symbol.name);
    else if (symbol.type === STT_OBJECT && !symbol.name.endsWith('.kd')) variables.set(symbol.name, symbol);
  }
  return { imports, variables };
}

function contentOf({ section, value, size }: ElfSymbol): string {
  if (section === undefined || section.bytes.length === 0) return '';
  const at = Number(value) - section.address;
  return Buffer.from(section.bytes.subarray(at, at + Number(size))).toString('latin1');
}

/** The name that clang makes of the source and the flags of a compilation; nobody looks for it. */
const COMPILATION = /^__hip_cuid_/;

function fileBreaks(a: CodeObject, b: CodeObject, isRebuilt: boolean): string[] {
  const breaks: string[] = [];
  const [x, y] = [symbolsOf(a), symbolsOf(b)];
  for (const name of y.imports) if (!x.imports.has(name)) breaks.push(`The candidate imports '${name}'.`);
  for (const [name, before] of x.variables) {
    if (isRebuilt && COMPILATION.test(name)) continue;
    const after = y.variables.get(name);
    if (after === undefined) breaks.push(`The candidate has no variable '${name}'.`);
    else if (after.size !== before.size)
      breaks.push(`Variable '${name}' has ${after.size} bytes, in the baseline ${before.size}.`);
    else if (contentOf(after) !== contentOf(before)) breaks.push(`Variable '${name}' begins with another content.`);
  }
  for (const { name } of b.elf.sections) {
    if (RUN_BY_LOADER.test(name) && !a.elf.sections.some((s) => s.name === name))
      breaks.push(`The candidate has a section '${name}', which the loader would run.`);
  }
  return breaks;
}

const RUN_BY_LOADER = /^\.(?:init|fini|preinit|ctors|dtors)/;
