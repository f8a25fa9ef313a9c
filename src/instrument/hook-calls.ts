// The code of a hook with that of the functions it calls in their places: a hook has no stack. What calls keep on the stack, at distances that
// are known, gets vector registers of its own. Source: AMDGPUUsage, "Non-Kernel Functions": s32 is the stack pointer, s33 the frame pointer,
// s[30:31] the return address; the stack pointer counts bytes of a lane, on gfx90a those of a wave.
import type { WavesmithError } from '../base/index.ts';
import type { ElfFile, ElfRelocation, ElfSymbol } from '../codeobject/elf/read.ts';
import { branchTarget, type Decoder, decoderFor, type Instruction, type TargetName } from '../isa/index.ts';
import { immediateOf, operandNamed } from '../isa/operand.ts';
import { targetInfo } from '../isa/table/targets.ts';
import { effectsOf, Slot } from '../program/index.ts';

/** An instruction of a hook, or a place that something jumps to. */
export interface HookItem {
  /** Its place: unlike for every copy of a function. */
  readonly key: number;
  /** Bytes from the function's start. */
  readonly at: number;
  /** Undefined for the end of a function. */
  readonly instruction: Instruction | undefined;
  /** Where it jumps. */
  readonly branch: number | undefined;
  readonly relocation: ElfRelocation | undefined;
  /** Bytes from the section's start to the function's. */
  readonly from: number;
}

/** An instruction of a function. */
interface Placed {
  readonly at: number;
  readonly instruction: Instruction;
  readonly relocation: ElfRelocation | undefined;
}

/** More instructions than this are not put in for one hook. */
const MOST_ITEMS = 20_000;
/** Keys of one copy of a function. */
const COPY = 2 ** 24;
const [STACK, FRAME, RETURN] = [32, 33, 30];
const STT_FUNC = 2;
const SHF_EXECINSTR = 4n;
const STACK_ACCESS = /^(?:scratch|buffer)_(load|store)_dword(?:x([234]))?$/;

/** Where a function's copy stands. */
interface Call {
  readonly symbol: ElfSymbol;
  /** The stack pointer at its start. */
  readonly stack: number;
  /** Where it returns to. */
  readonly back: number;
  readonly chain: readonly ElfSymbol[];
}

/** Copies of functions in the place of calls. `wrong` makes the error for a reason. */
export class HookCode {
  readonly items: HookItem[] = [];
  private readonly elf: ElfFile;
  private readonly decoder: Decoder;
  private readonly wrong: (why: string) => WavesmithError;
  private readonly scale: number;
  private copies = 0;
  /** Vector registers by the stack's dwords. */
  private readonly slots = new Map<number, number>();

  constructor(elf: ElfFile, symbol: ElfSymbol, target: TargetName, wrong: (why: string) => WavesmithError) {
    this.elf = elf;
    this.decoder = decoderFor(target);
    this.wrong = wrong;
    this.scale = targetInfo(target).architectedFlatScratch ? 1 : 64;
    const copy = this.copies++;
    const end = copy * COPY + Number(symbol.size);
    this.put({ symbol, stack: 0, back: end, chain: [symbol] }, copy);
    this.mark(end, Number(symbol.size));
    this.checkSlots();
  }

  private mark(key: number, at: number): void {
    this.items.push({ key, at, instruction: undefined, branch: undefined, relocation: undefined, from: 0 });
  }

  private put({ symbol, stack, back, chain }: Call, copy: number): void {
    const { from, list } = this.decoded(symbol);
    const base = copy * COPY;
    const sums = this.functionSums(from, list);
    const callees = calleesOf(list, sums);
    /** What registers hold of the stack's addresses. */
    const known = new Map<number, number>([
      [STACK, stack],
      [FRAME, stack],
    ]);
    for (const { at, instruction, relocation } of list) {
      if (this.items.length > MOST_ITEMS)
        throw this.wrong(`with what it calls it has more than ${MOST_ITEMS} instructions`);
      const add = (one: Instruction, branch?: number): void =>
        void this.items.push({ key: base + at, at, instruction: one, branch, relocation, from });
      const { operation, flags } = instruction.row;
      const to = branchTarget(instruction, at);
      if (operation === 's_setpc_b64' || operation === 's_swappc_b64') {
        const callee = callees.get(at);
        const isReturn = operation === 's_setpc_b64' && callee === undefined;
        if (isReturn && scalarOf(instruction, 'src0') !== RETURN)
          throw this.wrong('it jumps to an address that is not known');
        if (isReturn) add(instruction, back);
        else {
          if (callee === undefined)
            throw this.wrong(
              'it calls a function through a pointer, or code without optimisation (-O1) kept its address elsewhere',
            );
          if (chain.includes(callee)) throw this.wrong(`it calls '${callee.name}', which calls itself`);
          add(this.made(0xbe800180 | (RETURN << 16)));
          const copied = this.copies++;
          const end = copied * COPY + Number(callee.size);
          const call = { symbol: callee, stack: known.get(STACK) ?? 0, chain: [...chain, callee] };
          // A jump to a function returns where this one does.
          this.put({ ...call, back: operation === 's_setpc_b64' ? back : end }, copied);
          this.mark(end, Number(callee.size));
        }
      } else if (flags.has('isCall')) throw this.wrong('it calls a function by its distance');
      else if (to !== undefined) add(instruction, base + to);
      else if (sums.has(at)) this.mark(base + at, at);
      else if (!this.onStack(instruction, known, add)) {
        add(instruction);
        for (const slot of writtenSlots(instruction)) known.delete(slot);
      } else if (this.items.at(-1)?.key !== base + at) this.mark(base + at, at);
    }
  }

  /** The instructions of a function, with where it begins in its section. */
  private decoded({ name, section, value, size }: ElfSymbol): {
    readonly from: number;
    readonly list: readonly Placed[];
  } {
    if (section === undefined) throw this.wrong(`it uses '${name}', which is not in the file`);
    const from = Number(value);
    const code = section.bytes.subarray(from, from + Number(size));
    const relocations = this.elf.relocationSections.find((r) => r.target === section)?.relocations ?? [];
    const list: Placed[] = [];
    for (let at = 0; at < code.length; ) {
      const instruction = this.decoder.decode(code, at, code.length);
      if (instruction === undefined) throw this.wrong(`there is no instruction at byte ${at} of '${name}'`);
      const next = at + instruction.size;
      const relocation = relocations.find((r) => r.offset > from + at && r.offset < from + next);
      list.push({ at, instruction, relocation });
      at = next;
    }
    return { from, list };
  }

  /** The instructions that make addresses of functions, with what the sum of the low half is. */
  private functionSums(from: number, list: readonly Placed[]): ReadonlyMap<number, ElfSymbol | undefined> {
    const out = new Map<number, ElfSymbol | undefined>();
    for (const [index, { at, instruction, relocation }] of list.entries()) {
      const { symbol } = relocation ?? {};
      if (relocation === undefined || symbol === undefined || symbol.index === 0) continue;
      const { section } = symbol;
      if (section === undefined) throw this.wrong(`it uses '${symbol.name}', which is not in the file`);
      if ((section.flags & SHF_EXECINSTR) === 0n) continue;
      out.set(at, undefined);
      if (instruction.row.operation !== 's_add_u32') continue;
      const base = scalarOf(instruction, 'src0');
      const getPc = list
        .slice(0, index)
        .findLast(
          (one) => one.instruction.row.operation === 's_getpc_b64' && scalarOf(one.instruction, 'sdst') === base,
        );
      // The sum is counted from behind s_getpc_b64, the relocation from where it stands.
      const distance = relocation.offset - (from + (getPc?.at ?? 0) + 4);
      const target = Number(symbol.value + (relocation.addend ?? 0n)) - distance;
      const callee = this.elf.symbols.find(
        (one) => one.type === STT_FUNC && one.section === section && Number(one.value) === target,
      );
      if (getPc === undefined || callee === undefined)
        throw this.wrong(`it computes an address in '${section.name}' where no function begins`);
      out.set(getPc.at, undefined);
      out.set(at, callee);
    }
    return out;
  }

  /** Whether an instruction is about the stack alone; what stands in its place is added. */
  private onStack(instruction: Instruction, known: Map<number, number>, add: (one: Instruction) => void): boolean {
    const { operation } = instruction.row;
    const [out, a] = [scalarOf(instruction, 'sdst'), scalarOf(instruction, 'src0')];
    const isPointer = out === STACK || out === FRAME;
    if (operation === 's_mov_b32' && a !== undefined && (a === STACK || a === FRAME || (isPointer && known.has(a)))) {
      const value = known.get(a);
      if (value === undefined || out === undefined) throw this.wrong(UNKNOWN_SIZE);
      known.set(out, value);
      if (!isPointer) add(this.made(0xbe800080 | (out << 16)));
      return true;
    }
    if (isPointer && out !== undefined) {
      const by = /^s_(add|addk|sub)_[iu]32$/.test(operation) ? constantOf(instruction) : undefined;
      const before = known.get(operation.startsWith('s_addk') ? out : (a ?? -1));
      // The frame pointer of the caller, which lanes of a register kept.
      if (operation === 'v_readlane_b32') known.delete(out);
      else if (by === undefined || before === undefined) throw this.wrong(UNKNOWN_SIZE);
      else known.set(out, before + (operation.startsWith('s_sub') ? -by : by));
      return true;
    }
    const [, how, many = '1'] = STACK_ACCESS.exec(operation) ?? [];
    const pointer = scalarOf(instruction, 'saddr') ?? scalarOf(instruction, 'soffset') ?? -1;
    const isStack = how !== undefined && (operation.startsWith('scratch') || usesStackResource(instruction));
    if (!isStack) return false;
    const base = known.get(pointer);
    const data = operandNamed(instruction, 'vdata') ?? operandNamed(instruction, 'vdst');
    const hasAddress = operandNamed(instruction, 'vaddr')?.kind === 'reg';
    if (base === undefined || hasAddress || data?.kind !== 'reg' || data.file !== 'v') return false;
    const first = base / this.scale + immediateOf(instruction, 'offset');
    for (let i = 0; i < Number(many); i++) {
      const [slot, own] = [this.slot(first + 4 * i), data.index + i];
      const [to, from] = how === 'store' ? [slot, own] : [own, slot];
      add(this.made(0x7e000200 | (to << 17) | (256 + from)));
    }
    return true;
  }

  private slot(at: number): number {
    const known = this.slots.get(at) ?? 255 - this.slots.size;
    this.slots.set(at, known);
    return known;
  }

  private made(word: number): Instruction {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, word, true);
    const made = this.decoder.decode(bytes, 0, 4);
    if (made === undefined) throw new Error(`no instruction ${word.toString(16)}`);
    return made;
  }

  /** The registers of the stack's dwords must be those of nothing else. */
  private checkSlots(): void {
    const lowest = 256 - this.slots.size;
    const taken = new Set(this.slots.values());
    for (const { instruction } of this.items) {
      const isOwn = instruction?.row.operation === 'v_mov_b32';
      for (const o of instruction?.operands ?? [])
        if (o.kind === 'reg' && o.file === 'v' && o.index + o.dwords > lowest && !(isOwn && taken.has(o.index)))
          throw this.wrong(`it needs ${this.slots.size} dwords of stack memory, and more registers than are there`);
    }
  }
}

/** The functions that calls and jumps go to: those in whose registers every way there leaves the same address. */
function calleesOf(
  list: readonly Placed[],
  sums: ReadonlyMap<number, ElfSymbol | undefined>,
): ReadonlyMap<number, ElfSymbol> {
  type Held = Map<number, ElfSymbol>;
  const arrived = new Map<number, Held>();
  const callees = new Map<number, ElfSymbol>();
  let isChanged = true;
  const arrive = (at: number, held: Held): void => {
    const before = arrived.get(at);
    if (before === undefined) {
      arrived.set(at, new Map(held));
      isChanged = true;
      return;
    }
    for (const [slot, symbol] of before)
      if (held.get(slot) !== symbol) {
        before.delete(slot);
        isChanged = true;
      }
  };
  while (isChanged) {
    isChanged = false;
    callees.clear();
    let held: Held | undefined = new Map();
    for (const { at, instruction } of list) {
      const { operation, flags } = instruction.row;
      const to = branchTarget(instruction, at);
      if (arrived.has(at) && held !== undefined) arrive(at, held);
      held = arrived.has(at) ? new Map(arrived.get(at)) : held;
      const callee = held?.get(scalarOf(instruction, 'src0') ?? -1);
      if (/^s_(setpc|swappc)_b64$/.test(operation) && callee !== undefined) callees.set(at, callee);
      if (held === undefined) continue;
      // The high half of an address does not end it.
      const isHigh = sums.has(at) && operation === 's_addc_u32';
      for (const slot of isHigh ? [] : writtenSlots(instruction)) {
        held.delete(slot);
        held.delete(slot - 1);
      }
      const sum = sums.get(at);
      const out = scalarOf(instruction, 'sdst');
      if (sum !== undefined && out !== undefined) held.set(out, sum);
      if (to !== undefined) arrive(to, held);
      if (operation === 's_setpc_b64' || (to !== undefined && flags.has('isBarrier'))) held = undefined;
    }
  }
  return callees;
}

/** The scalar registers that an instruction writes. */
function writtenSlots(instruction: Instruction): number[] {
  return effectsOf(instruction).defs.flatMap(({ first, count }) =>
    Array.from({ length: count }, (_, i) => first + i).filter((slot) => slot < Slot.VCC),
  );
}

const UNKNOWN_SIZE = 'it needs stack memory of a size that is not known';

/** Whether an instruction accesses memory of the stack; those that stay are refused. */
export function usesStack(instruction: Instruction): boolean {
  return instruction.row.flags.has('FlatScratch') || usesStackResource(instruction);
}

function usesStackResource({ row, operands }: Instruction): boolean {
  return row.flags.has('MUBUF') && operands.some((o) => o.kind === 'reg' && o.text === 's[0:3]');
}

function scalarOf(instruction: Instruction, name: string): number | undefined {
  const operand = operandNamed(instruction, name);
  return operand?.kind === 'reg' && operand.file === 's' ? operand.index : undefined;
}

/** The constant that a scalar sum adds. */
function constantOf(instruction: Instruction): number | undefined {
  for (const name of ['src0', 'src1', 'simm16']) {
    const operand = operandNamed(instruction, name);
    if (operand?.kind === 'literal') return operand.bits | 0;
    if (operand?.kind === 'imm') return operand.value;
    if (operand?.kind === 'inline' && operand.encoding <= 208)
      return operand.encoding <= 192 ? operand.encoding - 128 : 192 - operand.encoding;
  }
  return undefined;
}
