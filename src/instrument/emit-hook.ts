// The code of a hook at a point: its groups of registers get free ones, its marks become what they stand for, its variables' addresses are
// computed from where the code stands. VCC and M0 are put back; EXEC is as a function leaves it, which is as it found it.
import { printInstruction, type Register, registerFromText } from '../isa/index.ts';
import { operandNamed } from '../isa/operand.ts';
import type { Instruction, TargetName } from '../isa/types.ts';
import { assembleLines, type Line } from './assemble.ts';
import type { EntryValue } from './entry-value.ts';
import type { Hook, RegisterGroup } from './hook.ts';
import type { RegisterPool } from './pool.ts';

/** What the emitter of a point lends. */
export interface HookPlace {
  readonly target: TargetName;
  readonly pc: number;
  /** Bytes from the kernel's arguments to the implicit ones. */
  readonly implicit: number;
  /** Where the kernel's EXEC is. */
  readonly exec: string;
  readonly sgprs: RegisterPool;
  readonly vgprs: RegisterPool;
  /** The first of the two registers that each argument is in. */
  readonly args: readonly number[];
  /** The first label that is free; labels from there on are the hook's. */
  readonly label: number;
  /** Lines that put a kept value into a scalar register or a pair. */
  entry(value: EntryValue, to: Register): readonly Line[];
  /** Asks for the address of bytes of the probe's memory; see `MemoryReference`. */
  address(offset: number, marks: { readonly pc: number; readonly low: number; readonly high: number }): void;
}

/** Stands where the rewriter writes a distance. */
const PLACEHOLDER = '0x7fffffff';

/** Code of a hook between other steps, with registers given to it: the bytes, and the step behind it. */
interface CodeRun {
  readonly bytes: Uint8Array;
  readonly next: number;
}

/** By hook, and by the registers that its groups have: points that give the same ones share the code. */
const runs = new WeakMap<Hook, Map<string, ReadonlyMap<number, CodeRun>>>();
/** Choices of registers that are kept for a hook. */
const MOST_CHOICES = 32;

/** The runs of a hook's code by their first steps. */
function codeRuns(
  hook: Hook,
  key: string,
  target: TargetName,
  text: (instruction: Instruction) => string,
): ReadonlyMap<number, CodeRun> {
  let known = runs.get(hook);
  if (known === undefined || known.size > MOST_CHOICES) {
    known = new Map();
    runs.set(hook, known);
  }
  let found = known.get(key);
  if (found === undefined) {
    const made = new Map<number, CodeRun>();
    for (let i = 0; i < hook.steps.length; i++) {
      const first = i;
      const lines: string[] = [];
      for (let step = hook.steps[i]; step?.kind === 'code'; step = hook.steps[++i]) lines.push(text(step.instruction));
      if (lines.length > 0) made.set(first, { bytes: assembleLines(target, lines), next: i });
    }
    found = made;
    known.set(key, found);
  }
  return found;
}

/** Lines of a hook. Throws `OutOfRegisters`. */
export function hookLines(hook: Hook, place: HookPlace): Line[] {
  const { sgprs, vgprs, target } = place;
  const taken = hook.groups.map((group) => ({
    group,
    at: (group.file === 's' ? sgprs : vgprs).span(group.count, group.align),
  }));
  const renamed = (register: Register): Register => {
    const found = taken.find(({ group }) => holds(group, register));
    if (found === undefined) return register;
    const index = found.at + register.index - found.group.first;
    const text =
      register.dwords === 1 ? `${register.file}${index}` : `${register.file}[${index}:${index + register.dwords - 1}]`;
    return registerFromText(text) as Register;
  };
  const text = (instruction: Instruction): string =>
    printInstruction(target, {
      ...instruction,
      operands: instruction.operands.map((o) => (o.kind === 'reg' ? renamed(o) : o)),
    });
  const vcc = hook.writesVcc ? sgprs.pair() : -1;
  const m0 = hook.writesM0 ? sgprs.one() : -1;
  /** Where a register of the kernel is: EXEC, and what the hook writes itself, are kept elsewhere. */
  const [execLow, execHigh] = place.exec.match(/\d+/g) ?? [];
  const own = (name: string): string => {
    if (name === 'exec_lo' || name === 'exec_hi') return `s${name === 'exec_lo' ? execLow : execHigh}`;
    if (vcc >= 0 && name.startsWith('vcc')) return `s${name === 'vcc_lo' ? vcc : vcc + 1}`;
    return m0 >= 0 && name === 'm0' ? `s${m0}` : name;
  };
  const lines: Line[] = [];
  if (vcc >= 0) lines.push(`s_mov_b64 s[${vcc}:${vcc + 1}], vcc`);
  if (m0 >= 0) lines.push(`s_mov_b32 s${m0}, m0`);
  /** The mark of each s_getpc_b64 by the register of its result: sums may come in any order behind it. */
  const bases = new Map<number, { pc: number }>();
  const lows = new Map<number, { offset: number; at: { low: number }; base: { pc: number } }>();
  const code = codeRuns(hook, taken.map(({ at }) => at).join(), target, text);
  for (let i = 0; i < hook.steps.length; i++) {
    const run = code.get(i);
    if (run !== undefined) {
      lines.push({ bytes: run.bytes });
      i = run.next;
    }
    const step = hook.steps[i];
    if (step === undefined) break;
    switch (step.kind) {
      case 'label':
        lines.push({ label: place.label + step.label });
        break;
      case 'branch':
        lines.push({ branch: step.mnemonic, to: place.label + step.to });
        break;
      case 'entry':
        lines.push(...place.entry(step.value, renamed(step.to)));
        break;
      case 'register':
        lines.push(`${moveOf(step.to, step.name, 'read')} ${renamed(step.to).text}, ${own(step.name)}`);
        break;
      case 'argument': {
        const { index, dwords } = renamed(step.to);
        for (let i = 0; i < dwords; i++)
          lines.push(`v_mov_b32_e32 v${index + i}, v${(place.args[step.argument] as number) + i}`);
        break;
      }
      case 'pc':
        lines.push(`s_mov_b32 ${renamed(step.to).text}, 0x${place.pc.toString(16)}`);
        break;
      case 'implicit': {
        const to = renamed(step.to);
        lines.push(
          ...place.entry('kernarg', to),
          `s_add_u32 s${to.index}, s${to.index}, 0x${place.implicit.toString(16)}`,
          `s_addc_u32 s${to.index + 1}, s${to.index + 1}, 0`,
        );
        break;
      }
      case 'exec':
        lines.push(`s_mov_b64 ${renamed(step.to).text}, ${place.exec}`);
        break;
      case 'write':
        lines.push(`${moveOf(step.from, step.name, 'write')} ${own(step.name)}, ${renamed(step.from).text}`);
        break;
      case 'getpc': {
        const base = { pc: 0 };
        bases.set(destination(step.instruction), base);
        lines.push(text(step.instruction), {
          mark: (at) => {
            base.pc = at;
          },
        });
        break;
      }
      case 'low':
      case 'high': {
        const sum = text(step.instruction).split(',').slice(0, 2).join(',');
        const to = destination(step.instruction);
        if (step.kind === 'low') {
          const at = { low: 0 };
          lows.set(to, { offset: step.offset, at, base: bases.get(sourceOf(step.instruction)) as { pc: number } });
          lines.push(`${sum}, ${PLACEHOLDER}`, {
            mark: (end) => {
              at.low = end - 4;
            },
          });
        } else {
          const { offset, at, base } = lows.get(to - 1) as {
            offset: number;
            at: { low: number };
            base: { pc: number };
          };
          const high = { at: 0 };
          lines.push(`${sum}, ${PLACEHOLDER}`, {
            mark: (end) => {
              high.at = end - 4;
            },
          });
          place.address(offset, {
            get pc() {
              return base.pc;
            },
            get low() {
              return at.low;
            },
            get high() {
              return high.at;
            },
          });
        }
      }
    }
  }
  if (m0 >= 0) lines.push(`s_mov_b32 m0, s${m0}`);
  if (vcc >= 0) lines.push(`s_mov_b64 vcc, s[${vcc}:${vcc + 1}]`);
  if (m0 >= 0) sgprs.release(m0);
  if (vcc >= 0) sgprs.release(vcc, vcc + 1);
  for (const { group, at } of taken) {
    const numbers = Array.from({ length: group.count }, (_, i) => at + i);
    (group.file === 's' ? sgprs : vgprs).release(...numbers);
  }
  return lines;
}

/** The instruction between a register of the hook and one of the kernel. */
function moveOf({ file }: Register, name: string, way: 'read' | 'write'): string {
  if (file !== 'v') return 's_mov_b32';
  return name.startsWith('a') ? `v_accvgpr_${way}_b32` : 'v_mov_b32_e32';
}

function holds({ file, first, count }: RegisterGroup, register: Register): boolean {
  return register.file === file && register.index >= first && register.index < first + count;
}

function destination(instruction: Instruction): number {
  const [to] = instruction.operands;
  return to?.kind === 'reg' ? to.index : -1;
}

function sourceOf(instruction: Instruction): number {
  const source = operandNamed(instruction, 'src0');
  return source?.kind === 'reg' ? source.index : -1;
}
