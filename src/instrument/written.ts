// Registers that a point may read: those that something writes on a way to it. What the others hold is nothing of the kernel's, and probes use them.
import { type Written, writtenAtBlocks } from '../check/index.ts';
import { addSlots, hasSlot, type Program, type ProgramFunction, SLOT_WORDS, slotNames } from '../program/index.ts';
import { type Point, readSlots, slotsNamed } from './points.ts';
import { writtenBy } from './values.ts';

/** Written registers by place, computed where they are asked for. */
export class WrittenRegisters {
  private readonly program: Program;
  private readonly byPoints = new Uint32Array(SLOT_WORDS);
  private readonly known = new Map<ProgramFunction, Map<number, Written>>();

  /** `points`: what they write counts, wherever it is. */
  constructor(program: Program, points: readonly Point[]) {
    this.program = program;
    addSlots(this.byPoints, slotsNamed(points.flatMap((point) => writtenBy(point.statements))));
  }

  /** The first register that a point reads and nothing on any way to it has written; undefined when there is none. */
  lacking(point: Point): string | undefined {
    const slots = readSlots(point.statements).flatMap(({ first, count }) =>
      Array.from({ length: count }, (_, i) => first + i),
    );
    const found = slots.length === 0 ? undefined : slots.find((slot) => !this.mayHold(point, slot));
    return found === undefined ? undefined : slotNames([found])[0];
  }

  /** Whether something on a way to a point writes a register. */
  mayHold({ pc, side, kernel: { subject } }: Point, slot: number): boolean {
    const { program } = this;
    const code = program.at(pc);
    const block = program.blockAt(pc);
    if (subject.kernel === undefined || code === undefined || block === undefined) return true;
    let blocks = this.known.get(subject);
    if (blocks === undefined) {
      blocks = writtenAtBlocks(program, subject);
      this.known.set(subject, blocks);
    }
    const some = blocks.get(block.index)?.some;
    if (some === undefined || hasSlot(some, slot) || hasSlot(this.byPoints, slot)) return true;
    const end = side === 'before' || side === 'replace' ? code.index : code.index + 1;
    for (let i = block.first; i < end; i++) {
      const { defs } = program.instructions[i]?.effects ?? { defs: [] };
      if (defs.some(({ first, count }) => first <= slot && slot < first + count)) return true;
    }
    return false;
  }
}
