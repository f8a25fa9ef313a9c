// Hooks: device functions that clang compiled, as a relocatable file. Their instructions are decoded, and their registers become groups that are
// allocated anew at each point: registers that some instruction names together stay together. What is marked in hook.h is replaced.
// Source: AMDGPUUsage, "Relocation Records" and "Non-Kernel Functions"; native/hook/wavesmith/hook.h.
import { WavesmithError } from '../base/index.ts';
import { RelocationType } from '../codeobject/elf/object-model.ts';
import { type ElfFile, type ElfSymbol, readElf } from '../codeobject/elf/read.ts';
import { type Instruction, type Register, registerFromText, type TargetName, targetFromElfMach } from '../isa/index.ts';
import { operandNamed } from '../isa/operand.ts';
import { TARGET_LIST } from '../isa/table/targets.ts';
import { effectsOf, Slot } from '../program/index.ts';
import type { EntryValue } from './entry-value.ts';
import { HookCode, type HookItem, usesStack } from './hook-calls.ts';

/** Registers that must be neighbours. */
export interface RegisterGroup {
  readonly file: 's' | 'v';
  readonly first: number;
  readonly count: number;
  readonly align: number;
}

/** One step of a hook's code. */
export type HookStep =
  | { readonly kind: 'code'; readonly instruction: Instruction }
  | { readonly kind: 'label'; readonly label: number }
  | { readonly kind: 'branch'; readonly mnemonic: string; readonly to: number }
  /** The result of a mark: of what the kernel got at its start, of a register of the kernel, of the point's address. */
  | { readonly kind: 'entry'; readonly to: Register; readonly value: EntryValue }
  | { readonly kind: 'register'; readonly to: Register; readonly name: string }
  | { readonly kind: 'pc'; readonly to: Register }
  /** The address of the kernel's implicit arguments. */
  | { readonly kind: 'implicit'; readonly to: Register }
  /** The kernel's EXEC. */
  | { readonly kind: 'exec'; readonly to: Register }
  /** A register of the kernel is written. */
  | { readonly kind: 'write'; readonly from: Register; readonly name: string }
  /** An argument of the hook, by its number. */
  | { readonly kind: 'argument'; readonly to: Register; readonly argument: number }
  /** The sum that makes the address of a variable. */
  | { readonly kind: 'getpc' | 'low' | 'high'; readonly instruction: Instruction; readonly offset: number };

/** An argument as the text of WAVESMITH_HOOK has it. */
export interface HookArgument {
  readonly text: string;
  readonly wide: boolean;
}

export interface Hook {
  readonly name: string;
  /** Where it runs: the text of WAVESMITH_HOOK. */
  readonly point: string;
  readonly target: TargetName;
  /** What each argument gets: `address`, `v4`, `7`; those of 64 bits take two registers. */
  readonly args: readonly HookArgument[];
  readonly steps: readonly HookStep[];
  readonly groups: readonly RegisterGroup[];
  readonly writesVcc: boolean;
  readonly writesM0: boolean;
  readonly writesExec: boolean;
  /** Runs once for the wave, in lane 0, whatever lanes are active. */
  readonly isOnce: boolean;
}

/** A variable of hooks. */
export interface HookVariable {
  readonly name: string;
  readonly offset: number;
  readonly size: number;
}

export interface HookFile {
  readonly target: TargetName;
  readonly hooks: readonly Hook[];
  readonly variables: readonly HookVariable[];
  /** Bytes of all variables. */
  readonly size: number;
}

const PREFIX = '.wavesmith.';
/** Begins the point of a hook that runs once for the wave. */
const ONCE = 'wave ';
const STT_OBJECT = 1;
const STT_FUNC = 2;
const SHF_ALLOC = 2n;
const SHT_NOBITS = 8;
const ENTRIES: readonly EntryValue[] = ['dispatch', 'kernarg', 'start', 'workgroup-x', 'workgroup-y', 'workgroup-z'];

/** Reads a relocatable file of hooks. Errors: `probe/hook`. */
export function readHooks(bytes: Uint8Array, file: string): HookFile {
  const elf = readElf(bytes);
  const target = targetFromElfMach(elf.header.flags & 0xff);
  if (target === undefined) throw wrong(file, `it is compiled for another processor than ${TARGET_LIST}`);
  const variables: HookVariable[] = [];
  const offsets = new Map<number, number>();
  let size = 0;
  for (const symbol of elf.symbols) {
    const { section } = symbol;
    if (symbol.type !== STT_OBJECT || section === undefined || (section.flags & SHF_ALLOC) === 0n) continue;
    if (section.type !== SHT_NOBITS) {
      const isOwn = !symbol.name.startsWith('.L');
      throw wrong(
        file,
        isOwn
          ? `the variable '${symbol.name}' does not begin as zeros`
          : `they have text or a table of constants ('${symbol.name}')`,
      );
    }
    const bytesOf = Number(symbol.size);
    size = Math.ceil(size / 16) * 16;
    offsets.set(symbol.index, size);
    variables.push({ name: symbol.name, offset: size, size: bytesOf });
    size += bytesOf;
  }
  const hooks = elf.symbols
    .filter((s) => s.type === STT_FUNC && s.section?.name.startsWith(PREFIX) === true)
    .map((symbol) => readHook(elf, symbol, target, offsets, file));
  if (hooks.length === 0) {
    throw new WavesmithError('probe/hook', `'${file}' has no hook.`, {
      hint: 'WAVESMITH_HOOK("kernel-entry") void name() { … } makes one.',
    });
  }
  return { target, hooks, variables, size };
}

function wrong(file: string, why: string, hook?: string): WavesmithError {
  const what = hook === undefined ? `The hooks of '${file}' cannot be used` : `The hook '${hook}' cannot be used`;
  return new WavesmithError('probe/hook', `${what}: ${why}.`, { file });
}

function readHook(
  elf: ElfFile,
  symbol: ElfSymbol,
  target: TargetName,
  variables: ReadonlyMap<number, number>,
  file: string,
): Hook {
  const { name, section } = symbol;
  if (section === undefined) throw wrong(file, 'it has no code', name);
  const { items } = new HookCode(elf, symbol, target, (why) => wrong(file, why, name));
  const labels = new Map<number, number>();
  const labelOf = (key: number): number => {
    const known = labels.get(key) ?? labels.size;
    labels.set(key, known);
    return known;
  };
  const bodies = new Map<HookItem, HookStep>();
  const getPcs = new Map<number, number>();
  let writesVcc = false;
  let writesM0 = false;
  let writesExec = false;
  for (const item of items) {
    const { at, from, instruction, branch, relocation } = item;
    if (instruction === undefined) continue;
    const { operation, mnemonic } = instruction.row;
    if (branch !== undefined)
      bodies.set(item, {
        kind: 'branch',
        mnemonic: operation === 's_setpc_b64' ? 's_branch' : mnemonic,
        to: labelOf(branch),
      });
    else if (usesStack(instruction)) throw wrong(file, 'it needs stack memory', name);
    else if (operation === 's_getpc_b64') {
      bodies.set(item, { kind: 'getpc', instruction, offset: 0 });
      getPcs.set(registerOf(instruction, 'sdst')?.index ?? -1, at + instruction.size);
    } else if (relocation !== undefined) {
      const { type, symbol: to, addend = 0n } = relocation;
      const kind = type === RelocationType.REL32_LO ? 'low' : type === RelocationType.REL32_HI ? 'high' : undefined;
      const base = getPcs.get((registerOf(instruction, 'src0')?.index ?? -1) - (kind === 'high' ? 1 : 0));
      const variable = to === undefined ? undefined : variables.get(to.index);
      if (kind === undefined || base === undefined || variable === undefined)
        throw wrong(file, `it uses '${to?.name ?? '?'}', which is no variable of the file (WAVESMITH_VARIABLE)`, name);
      bodies.set(item, { kind, instruction, offset: variable + Number(addend) - (relocation.offset - from - base) });
    } else bodies.set(item, markOf(instruction) ?? { kind: 'code', instruction });
    for (const { first, count } of effectsOf(instruction).defs) {
      if (first < Slot.VCC + 2 && first + count > Slot.VCC) writesVcc = true;
      if (first <= Slot.M0 && first + count > Slot.M0) writesM0 = true;
      if (first < Slot.EXEC + 2 && first + count > Slot.EXEC) writesExec = true;
    }
  }
  const placed = new Set<number>();
  const steps = items.flatMap((item): HookStep[] => {
    const label = placed.has(item.key) ? undefined : labels.get(item.key);
    placed.add(item.key);
    const step = bodies.get(item);
    return [...(label === undefined ? [] : [{ kind: 'label', label } as const]), ...(step === undefined ? [] : [step])];
  });
  const text = section.name.slice(PREFIX.length);
  const isOnce = text.startsWith(ONCE);
  const { point, args } = pointOf(isOnce ? text.slice(ONCE.length) : text);
  // Arguments come in vector registers from v0 on. Source: AMDGPUUsage, "Call Convention".
  let next = 0;
  const given = args.map(({ wide }, argument): HookStep => {
    const first = next;
    next += wide ? 2 : 1;
    return {
      kind: 'argument',
      to: registerFromText(wide ? `v[${first}:${first + 1}]` : `v${first}`) as Register,
      argument,
    };
  });
  steps.unshift(...given);
  const groups = groupsOf(steps, (register) => {
    throw wrong(
      file,
      /^s3[23]$/.test(register)
        ? `it has a stack (${register} points to it), as code that was compiled without optimisation has: compile it with -O1 or more`
        : `it reads ${register}, which it does not write: its point gives it no such argument, and hooks have no stack or work-item numbers`,
      name,
    );
  });
  writesExec ||= steps.some((step) => step.kind === 'write' && step.name.startsWith('exec'));
  return { name, point, args, isOnce, target, steps, groups, writesVcc, writesM0, writesExec };
}

/** A point and its arguments: `before store(address, data, 7)`. */
function pointOf(text: string): { point: string; args: HookArgument[] } {
  const [, point, list] = /^([^=(]*)\((.*)\)$/.exec(text) ?? /^(.*=.*)\|\((.*)\)$/.exec(text) ?? [];
  if (point === undefined || list === undefined) return { point: text, args: [] };
  const args = list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  const isWide = (one: string): boolean => one === 'address' || one === 'exec' || one === 'vcc' || one.includes(':');
  return { point: point.trim(), args: args.map((one) => ({ text: one, wide: isWide(one) })) };
}

function registerOf(instruction: Instruction, name: string): Register | undefined {
  const operand = operandNamed(instruction, name);
  return operand?.kind === 'reg' ? operand : undefined;
}

/** A scalar register by the number that instructions have for it. */
function scalarName(number: number): string {
  return { 106: 'vcc_lo', 107: 'vcc_hi', 124: 'm0' }[number] ?? `s${number}`;
}

/** A vector register by the number that marks have for it: accumulation registers are from 256 on. */
function vectorName(number: number): string {
  return number < 256 ? `v${number}` : `a${number - 256}`;
}

/** What a mark of hook.h stands for. */
function markOf(instruction: Instruction): HookStep | undefined {
  const { operation } = instruction.row;
  if (operation === 's_and_b32' || operation === 'v_and_b32') {
    const sources = [operandNamed(instruction, 'src0'), operandNamed(instruction, 'src1')];
    const mark = sources.find((o) => o?.kind === 'literal' && o.bits >>> 16 === 0x5756);
    const from = sources.find((o) => o?.kind === 'reg');
    if (mark?.kind !== 'literal' || from?.kind !== 'reg') return undefined;
    const number = mark.bits & 0xffff;
    const half = number === 0xfffe ? 'exec_lo' : number === 0xffff ? 'exec_hi' : undefined;
    return { kind: 'write', from, name: half ?? (operation.startsWith('v') ? vectorName(number) : scalarName(number)) };
  }
  const source = operandNamed(instruction, 'src0');
  if (!/^(s_mov_b32|s_mov_b64|v_mov_b32)$/.test(operation) || source?.kind !== 'literal') return undefined;
  const to = registerOf(instruction, 'sdst') ?? registerOf(instruction, 'vdst');
  if (to === undefined) return undefined;
  const number = source.bits & 0xffff;
  if (source.bits >>> 16 === 0x5754) return { kind: 'register', to, name: vectorName(number) };
  if (source.bits >>> 16 === 0x5755) return { kind: 'register', to, name: scalarName(number) };
  if (source.bits >>> 16 !== 0x5753) return undefined;
  if (number === 7) return { kind: 'pc', to };
  if (number === 8) return { kind: 'exec', to };
  if (number === 9) return { kind: 'implicit', to };
  const value = ENTRIES[number - 1];
  return value === undefined ? undefined : { kind: 'entry', to, value };
}

/** The general registers of a step: those it names. */
export function registersOfStep(step: HookStep): Register[] {
  if ('to' in step && typeof step.to === 'object') return [step.to];
  if (step.kind === 'write') return [step.from];
  if (!('instruction' in step)) return [];
  return step.instruction.operands.flatMap((o) =>
    o.kind === 'reg' && (o.file === 's' || o.file === 'v' || o.file === 'a') ? [o] : [],
  );
}

/** Groups of registers that are named together. `unknown` is told of one that is read and nowhere written. */
function groupsOf(steps: readonly HookStep[], unknown: (register: string) => never): RegisterGroup[] {
  const spans: { file: 's' | 'v'; first: number; end: number; align: number }[] = [];
  const written = new Set<string>();
  for (const step of steps) {
    for (const { file, index, dwords, text } of registersOfStep(step)) {
      if (file !== 's' && file !== 'v') unknown(text);
      const span = {
        file: file as 's' | 'v',
        first: index,
        end: index + dwords,
        align: dwords >= 4 && file === 's' ? 4 : dwords >= 2 ? 2 : 1,
      };
      for (let i = spans.length - 1; i >= 0; i--) {
        const other = spans[i] as typeof span;
        if (other.file !== span.file || other.end <= span.first || other.first >= span.end) continue;
        span.first = Math.min(span.first, other.first);
        span.end = Math.max(span.end, other.end);
        span.align = Math.max(span.align, other.align);
        spans.splice(i, 1);
      }
      spans.push(span);
    }
    const defs =
      'instruction' in step
        ? effectsOf(step.instruction).defs
        : 'to' in step && typeof step.to === 'object'
          ? [{ first: step.to.file === 'v' ? Slot.VGPR0 + step.to.index : step.to.index, count: step.to.dwords }]
          : [];
    for (const { first, count } of defs) for (let i = 0; i < count; i++) written.add(String(first + i));
  }
  for (const step of steps) {
    if (!('instruction' in step)) continue;
    for (const { first, count } of effectsOf(step.instruction).uses)
      for (let slot = first; slot < first + count; slot++) {
        const isVector = slot >= Slot.VGPR0 && slot < Slot.VGPR0 + 256;
        if ((slot < 102 || isVector) && !written.has(String(slot)))
          unknown(isVector ? `v${slot - Slot.VGPR0}` : `s${slot}`);
      }
  }
  return spans.map(({ file, first, end, align }) => {
    const start = first - (first % align);
    return { file, first: start, count: end - start, align };
  });
}
