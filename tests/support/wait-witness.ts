// A second opinion on a missing wait, independent of the checker's data flow: walks the paths from a memory operation to the
// instruction that uses its result, counting operations and waits as the hardware does.
// Source: CDNA3 ISA manual, "Data Dependency Resolution": s_waitcnt n goes on when at most n operations are outstanding.
import {
  type CodeInstruction,
  LGKM_FULL,
  type Program,
  VM_FULL,
  waitCounts,
  waitRole,
} from '../../src/program/index.ts';

/** What the paths from an operation to an instruction say. */
export interface Witness {
  /** The shortest path on which nothing proves the operation complete: the waits on it, each with what is still allowed to be outstanding. */
  readonly waits: readonly string[] | undefined;
  /** Instructions on that path, and branches taken or not on it. */
  readonly length: number;
  readonly branches: number;
  /** Whether another path to the instruction does prove it. */
  readonly isProvedElsewhere: boolean;
}

interface Point {
  readonly index: number;
  readonly age: number;
  readonly length: number;
  readonly branches: number;
  readonly from: Point | undefined;
  readonly note: string | undefined;
}

/** Walks from `operation` (of an in-order kind) to `user`. */
export function witness(program: Program, operation: CodeInstruction, user: CodeInstruction): Witness {
  const { kind } = waitRole(operation.instruction.row);
  if (kind !== 'vm' && kind !== 'lds') throw new Error(`${program.text(operation.pc)} does not return in order`);
  const full = kind === 'vm' ? VM_FULL : LGKM_FULL;
  const seen = new Set<number>();
  const proved = new Set<number>();
  let open: Point[] = [];
  let next: Point[] = [];
  let found: Point | undefined;
  const step = (from: Point | undefined, code: CodeInstruction, age: number, note: string | undefined): void => {
    const isDone = age >= full;
    if (isDone) proved.add(code.index);
    for (const [n, successor] of successorsOf(program, code).entries()) {
      const key = successor * (full + 1) + Math.min(age, full);
      if (seen.has(key)) continue;
      seen.add(key);
      const branches = (from?.branches ?? 0) + (n > 0 || successor !== code.index + 1 ? 1 : 0);
      next.push({ index: successor, age, length: (from?.length ?? 0) + 1, branches, from, note });
    }
  };
  step(undefined, operation, 0, undefined);
  let isProvedElsewhere = false;
  while (next.length > 0) {
    [open, next] = [next, []];
    for (const point of open) {
      const code = program.instructions[point.index] as CodeInstruction;
      if (code === user) {
        if (point.age >= full) isProvedElsewhere = true;
        else found ??= point;
        continue;
      }
      if (code === operation) continue;
      const role = waitRole(code.instruction.row);
      let { age } = point;
      let note: string | undefined;
      if (age < full && role.isWait) {
        const counts = waitCounts(code.instruction);
        const count = kind === 'vm' ? counts.vm : counts.lgkm;
        if (count < full) note = `${program.text(code.pc)} with ${age + 1} outstanding`;
        if (count <= age) age = full;
      } else if (age < full && role.kind === kind) age++;
      step(point, code, age, note);
    }
  }
  const waits: string[] = [];
  for (let at = found; at !== undefined; at = at.from) if (at.note !== undefined) waits.unshift(at.note);
  return {
    waits: found === undefined ? undefined : waits,
    length: found?.length ?? 0,
    branches: found?.branches ?? 0,
    isProvedElsewhere,
  };
}

function successorsOf(program: Program, code: CodeInstruction): number[] {
  const block = program.blockAt(code.pc);
  if (block === undefined) return [];
  if (code.index + 1 < block.end) return [code.index + 1];
  return block.successors.map((index) => program.blocks[index]?.first ?? -1).filter((index) => index >= 0);
}
