// Registers for a point, in the order in which they are tried: those that nothing names and that leave as many waves on a SIMD; with them
// those that are dead at the point; borrowed ones; and then the same with as many registers as there are.
import type { KernelDescriptor } from '../codeobject/index.ts';
import { registerFromText } from '../isa/index.ts';
import { targetInfo } from '../isa/table/targets.ts';
import { type Program, Slot } from '../program/index.ts';
import { borrow, type Lenders, type Loan, SCRATCH_REACH, type ScratchSpace } from './borrow.ts';
import type { DeadRegisters } from './dead.ts';
import type { KeptPlace } from './entry-value.ts';
import { namedSlots, type Point } from './points.ts';
import { type CallGroup, type FreeRegisters, freeRegisters, indexedFiles, registersWith } from './registers.ts';
import { clobberedBy, valuesOf, writtenBy } from './values.ts';

/** Registers to write a point's code with. */
export interface Attempt {
  readonly sgprs: readonly number[];
  readonly vgprs: readonly number[];
  /** Matrix instructions may still have to write some of them. */
  readonly settle: boolean;
  readonly loan: Loan | undefined;
  /** To be called when one more of a kind was needed. */
  lacks(kind: 's' | 'v'): void;
}

/** Most registers of a kind that are borrowed for a point. */
const MOST_BORROWED = 24;

/** The registers of kernels and functions that may run in one wave. */
export class GroupRegisters {
  private readonly program: Program;
  /** Blocks of more than one kernel or function. */
  private readonly shared: ReadonlySet<number>;
  private readonly dead: DeadRegisters;
  private readonly calm: FreeRegisters;
  private readonly all: FreeRegisters;
  /** Registers that every kernel of the group can name. */
  private readonly counts: Counts;
  private readonly indexed: { readonly vgprs: boolean; readonly sgprs: boolean };
  private readonly kept = new Set<number>();
  private readonly counting = new Set<number>();
  private keptAgpr: number | undefined;
  private readonly hasOpenStack: boolean;
  /** Scratch that no kernel of the group uses. */
  private scratch: ScratchSpace | undefined;

  /** `canSetScratch`: FLAT_SCRATCH can be set where the kernels begin. */
  constructor(program: Program, group: CallGroup, mayGrow: boolean, dead: DeadRegisters, canSetScratch: boolean) {
    this.program = program;
    this.shared = sharedBlocks(group);
    this.dead = dead;
    this.calm = freeRegisters(program, group, mayGrow ? 'calm' : 'none', dead.reads);
    this.all = mayGrow ? freeRegisters(program, group, 'all', dead.reads) : this.calm;
    this.indexed = indexedFiles(program, group);
    const own = group.kernels.flatMap(({ kernel }) =>
      kernel?.descriptor === undefined ? [] : [countsOf(kernel.descriptor, this.namedVgprs)],
    );
    const least = (kind: keyof Counts, most: number): number => Math.min(most, ...own.map((counts) => counts[kind]));
    this.counts = { sgprs: least('sgprs', 102), vgprs: least('vgprs', 256), agprs: least('agprs', 256) };
    this.hasOpenStack = group.kernels.some((one) => one.kernel?.descriptor?.properties.usesDynamicStack === 1);
    const isAllocated = mayGrow || this.calm.namedSgprs <= this.counts.sgprs;
    this.scratch = freeScratch(program, group, canSetScratch && isAllocated);
  }

  /** The last scalar register that code of the group names; FLAT_SCRATCH is allocated behind it. */
  get lastNamedSgpr(): number {
    return this.calm.namedSgprs - 1;
  }

  /** As of `FreeRegisters`. */
  get namedVgprs(): number {
    return this.calm.namedVgprs;
  }

  /** Scalar registers that nothing names, within what leaves as many waves on a SIMD. */
  get unnamedSgprs(): readonly number[] {
    return this.calm.sgprs;
  }

  /** Takes scalar registers out of all further choices. */
  keepSgprs(numbers: readonly number[]): void {
    for (const n of numbers) this.counting.add(n);
  }

  /** Takes a place that is free throughout out of all further choices; undefined when there is none. */
  keepOne(): KeptPlace | undefined {
    const found = this.calm.vgprs[0] ?? this.all.vgprs[0];
    if (found !== undefined) {
      this.kept.add(found);
      return { file: 'v', at: found };
    }
    this.keptAgpr = this.calm.agprs[0] ?? this.all.agprs[0];
    if (this.keptAgpr !== undefined) return { file: 'a', at: this.keptAgpr };
    if (this.scratch === undefined) return undefined;
    const { at, needsRegister } = this.scratch;
    this.scratch = at + 4 < SCRATCH_REACH ? { at: at + 4, needsRegister } : undefined;
    return { file: 'scratch', at, needsRegister };
  }

  /** A vector register that holds nothing when a kernel starts: any but v0, where the work-items' numbers are. */
  get atEntry(): number {
    return this.counts.vgprs - 1;
  }

  /**
   * The first register that a point reads and does not write, and that its kernel, or some kernel that may call its function or shares
   * its code, has not; undefined when all are there.
   */
  absent({ statements, pc, kernel: { subject } }: Point): string | undefined {
    const written = writtenBy(statements);
    const { descriptor } = subject.kernel ?? {};
    const isShared = this.shared.has(this.program.blockAt(pc)?.index ?? -1);
    const own = descriptor === undefined || isShared ? this.counts : countsOf(descriptor, this.namedVgprs);
    const last: Readonly<Record<string, number>> = { s: own.sgprs, v: own.vgprs, a: own.agprs };
    const read = valuesOf(statements).flatMap((value) => (value.op === 'register' ? [value.name] : []));
    const names = [...read, ...clobberedBy(statements)];
    return names.find((name) => {
      const register = registerFromText(name);
      const count = register === undefined ? undefined : last[register.file];
      return (
        count !== undefined &&
        register !== undefined &&
        register.index + register.dwords > count &&
        !written.includes(name)
      );
    });
  }

  /** What to try for a point, or why something cannot be tried; `also` is kept at this point. */
  *attempts(point: Point, also: number | undefined): Generator<Attempt | string> {
    let kinds = new Set<'s' | 'v'>();
    const lacks = (kind: 's' | 'v'): void => void kinds.add(kind);
    const without = (list: readonly number[]): number[] => list.filter((n) => !this.kept.has(n) && n !== also);
    const others = (list: readonly number[]): number[] => list.filter((n) => !this.counting.has(n));
    const { calm, all } = this;
    yield { sgprs: others(calm.sgprs), vgprs: without(calm.vgprs), settle: false, loan: undefined, lacks };
    const dead = this.deadAt(point);
    let tried = 0;
    const settle = this.dead.hasMatrix(point.kernel);
    const ways = calm === all ? [calm] : [calm, all];
    for (const free of [...ways, ...(this.scratch === undefined ? [] : [all])]) {
      const isLast = this.scratch !== undefined && ways.length === tried++;
      const sgprs = others([...free.sgprs, ...dead.sgprs.filter((n) => !free.sgprs.includes(n))]);
      const vgprs = without([...free.vgprs, ...dead.vgprs.filter((n) => !free.vgprs.includes(n))]);
      kinds = new Set();
      yield { sgprs, vgprs, settle, loan: undefined, lacks };
      const lenders = this.lenders(point, { ...free, sgprs, vgprs }, also, isLast ? this.scratch : undefined);
      const count = { s: 0, v: 0 };
      for (;;) {
        for (const kind of kinds) count[kind] += 2;
        if (count.s > MOST_BORROWED || count.v > MOST_BORROWED || kinds.size === 0) break;
        kinds = new Set();
        const loan = borrow(lenders, count.s, count.v);
        if (typeof loan === 'string') {
          yield this.hasOpenStack ? `${loan}, nor scratch: the size of the stack is not known` : loan;
          break;
        }
        yield { sgprs: loan.sgprs, vgprs: loan.vgprs, settle, loan, lacks };
      }
    }
  }

  private deadAt(point: Point): { sgprs: number[]; vgprs: number[]; isVccFree: boolean } {
    const { kernel, pc, side } = point;
    const found = this.dead.at(kernel, pc, side, this.counts.sgprs, this.counts.vgprs);
    const read = readBy(point);
    return {
      sgprs: this.indexed.sgprs ? [] : found.sgprs.filter((n) => !read.has(n)),
      vgprs: this.indexed.vgprs ? [] : found.vgprs.filter((n) => !read.has(Slot.VGPR0 + n)),
      isVccFree: found.isVccFree && !read.has(Slot.VCC),
    };
  }

  private lenders(
    point: Point,
    free: FreeRegisters,
    also: number | undefined,
    scratch: ScratchSpace | undefined,
  ): Lenders {
    const read = readBy(point);
    const others = (count: number, own: readonly number[], base: number): number[] =>
      Array.from({ length: count }, (_, n) => n).filter((n) => !own.includes(n) && !read.has(base + n));
    return {
      freeSgprs: free.sgprs,
      freeVgprs: free.vgprs,
      sgprs: others(this.counts.sgprs, free.sgprs, 0).filter((n) => !this.counting.has(n)),
      vgprs: others(this.counts.vgprs, free.vgprs, Slot.VGPR0).filter((n) => !this.kept.has(n) && n !== also),
      agprs: free.agprs.filter((n) => n !== this.keptAgpr),
      isVccFree: this.deadAt(point).isVccFree,
      isSccLive: point.isSccLive,
      scratch,
    };
  }
}

/** How many registers of each kind there are. */
interface Counts {
  readonly sgprs: number;
  readonly vgprs: number;
  readonly agprs: number;
}

/** Registers of each kind that a kernel can name whose code names vector registers up to a count. */
export function countsOf(descriptor: KernelDescriptor, namedVgprs = 0): Counts {
  const { sgprs, vgprs, totalVgprs } = registersWith(descriptor, namedVgprs);
  return { sgprs: Math.min(102, sgprs - 6), vgprs: Math.min(256, vgprs), agprs: Math.min(256, totalVgprs - vgprs) };
}

/** Scratch behind what a group's kernels have, where no callee takes more and FLAT_SCRATCH is, or can be, set. */
function freeScratch(program: Program, group: CallGroup, canSetScratch: boolean): ScratchSpace | undefined {
  const needsRegister = !targetInfo(program.target).architectedFlatScratch;
  if (needsRegister && (!canSetScratch || setsScratch(program, group))) return undefined;
  const { kernels } = group;
  const sizes = kernels.map(({ kernel }) => {
    const { descriptor } = kernel ?? {};
    return descriptor === undefined || descriptor.properties.usesDynamicStack
      ? Number.POSITIVE_INFINITY
      : descriptor.privateSegmentFixedSize;
  });
  const end = Math.ceil(Math.max(0, ...sizes) / 4) * 4;
  return end < SCRATCH_REACH ? { at: end, needsRegister } : undefined;
}

function sharedBlocks({ functions }: CallGroup): Set<number> {
  const [once, more] = [new Set<number>(), new Set<number>()];
  for (const { blocks } of functions) for (const index of blocks) (once.has(index) ? more : once).add(index);
  return more;
}

/** Whether a group writes FLAT_SCRATCH itself: it may have anything then at some place. */
function setsScratch({ blocks, instructions }: Program, { functions }: CallGroup): boolean {
  return functions.some((subject) =>
    subject.blocks.some((index) => {
      const { first = 0, end = 0 } = blocks[index] ?? {};
      return instructions
        .slice(first, end)
        .some(({ effects }) =>
          effects.defs.some((d) => d.first < Slot.FLAT_SCRATCH + 2 && d.first + d.count > Slot.FLAT_SCRATCH),
        );
    }),
  );
}

/** Slots that a point's statements and its instruction name. */
function readBy({ statements, instruction }: Point): ReadonlySet<number> {
  const out = new Set<number>();
  const add = (first: number, count: number): void => {
    for (let i = 0; i < count; i++) out.add(first + i);
  };
  for (const { first, count } of namedSlots(statements)) add(first, count);
  for (const { first, count } of instruction?.code.effects.uses ?? []) add(first, count);
  return out;
}
