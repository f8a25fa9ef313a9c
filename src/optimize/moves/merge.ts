// Two loads of neighbouring dwords as one load of both.
import { type CodeInstruction, VM_FULL, waitCounts, waitRole } from '../../program/index.ts';
import { dependsOn, type KernelView, type Move, waitLine } from './view.ts';

/** `global_load_dwordx2 v[2:3], v1, s[6:7] offset:16`, in parts. */
const LOAD = /^(global_load_dword)(x2)? v(?:(\d+)|\[(\d+):\d+\]), ([^ ]+, [^ ]+)(?: offset:(-?\d+))?$/;

interface Load {
  readonly code: CodeInstruction;
  readonly first: number;
  readonly dwords: number;
  readonly address: string;
  readonly offset: number;
}

function loadOf(view: KernelView, code: CodeInstruction): Load | undefined {
  const [, name, wide, one, many, address, offset] = LOAD.exec(view.text(code)) ?? [];
  if (name === undefined || address === undefined) return undefined;
  const first = Number(one ?? many);
  return { code, first, dwords: wide === undefined ? 1 : 2, address, offset: Number(offset ?? 0) };
}

/** Pairs whose registers and addresses follow each other, with nothing between that needs either, and no wait. */
export function mergedLoads(view: KernelView, region: readonly CodeInstruction[]): Move[] {
  const moves: Move[] = [];
  region.forEach((code, at) => {
    const one = loadOf(view, code);
    if (one === undefined) return;
    for (let i = at + 1; i < region.length; i++) {
      const between = region[i] as CodeInstruction;
      if (waitRole(between.instruction.row).isWait) return;
      const two = loadOf(view, between);
      const move = two === undefined ? undefined : mergeOf(view, region, at, i, one, two);
      if (move !== undefined) moves.push(move);
      if (dependsOn(code, between) || between.instruction.row.flags.has('mayStore')) return;
    }
  });
  return moves;
}

function mergeOf(
  view: KernelView,
  region: readonly CodeInstruction[],
  at: number,
  to: number,
  one: Load,
  two: Load,
): Move | undefined {
  const [low, high] = one.offset < two.offset ? [one, two] : [two, one];
  const fits =
    one.address === two.address &&
    one.dwords === two.dwords &&
    low.offset + 4 * low.dwords === high.offset &&
    low.first + low.dwords === high.first &&
    low.first % 2 === 0;
  const isFree = region.slice(at + 1, to).every((code) => !dependsOn(code, two.code));
  if (!fits || !isFree || dependsOn(one.code, two.code)) return undefined;
  const dwords = 2 * one.dwords;
  const offset = low.offset === 0 ? '' : ` offset:${low.offset}`;
  const text = `global_load_dwordx${dwords} v[${low.first}:${low.first + dwords - 1}], ${one.address}${offset}`;
  const replace = new Map([
    [one.code.pc, view.line(text)],
    [two.code.pc, new Uint8Array()],
  ]);
  // One operation less is outstanding: waits behind count one less, as far as this stretch goes.
  for (const code of region.slice(to + 1)) {
    if (!waitRole(code.instruction.row).isWait) continue;
    const { vm, lgkm } = waitCounts(code.instruction);
    if (vm === 0) break;
    if (vm >= VM_FULL) continue;
    const line = waitLine(vm - 1, lgkm);
    if (line !== undefined) replace.set(code.pc, view.line(line));
  }
  return { kind: 'merge-loads', pc: one.code.pc, text, replace };
}
