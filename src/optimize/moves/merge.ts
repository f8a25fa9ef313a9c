// Two loads or two stores of neighbouring dwords as one of both.
import { WavesmithError } from '../../base/index.ts';
import { type CodeInstruction, LGKM_FULL, VM_FULL, waitCounts, waitRole } from '../../program/index.ts';
import { dependsOn, isMemory, type KernelView, type Move, waitLine } from './view.ts';

/** A form of access: its text in parts, and the text of one that is twice as wide. */
interface Form {
  readonly kind: 'merge-loads' | 'merge-stores';
  readonly counter: 'vm' | 'lgkm';
  /** Of scalar registers, which come in fours from four on. */
  readonly isScalar: boolean;
  readonly pattern: RegExp;
  readonly text: (parts: Parts, dwords: number, registers: string, offset: number) => string;
}

interface Parts {
  readonly one?: string;
  readonly many?: string;
  readonly wide?: string;
  readonly address?: string;
  readonly base?: string;
  readonly offset?: string;
  readonly rest?: string;
}

const offsetText = (offset: number): string => (offset === 0 ? '' : ` offset:${offset}`);
const DATA = 'v(?:(?<one>\\d+)|\\[(?<many>\\d+):\\d+\\])';

const FORMS: readonly Form[] = [
  {
    kind: 'merge-loads',
    counter: 'vm',
    isScalar: false,
    pattern: new RegExp(
      `^global_load_dword(?<wide>x2)? ${DATA}, (?<address>[^ ]+, [^ ]+)(?: offset:(?<offset>-?\\d+))?$`,
    ),
    text: ({ address }, dwords, to, offset) => `global_load_dwordx${dwords} ${to}, ${address}${offsetText(offset)}`,
  },
  {
    kind: 'merge-stores',
    counter: 'vm',
    isScalar: false,
    pattern: new RegExp(
      `^global_store_dword(?<wide>x2)? (?<address>[^ ]+), ${DATA}, (?<base>[^ ]+)(?: offset:(?<offset>-?\\d+))?$`,
    ),
    text: ({ address, base }, dwords, data, offset) =>
      `global_store_dwordx${dwords} ${address}, ${data}, ${base}${offsetText(offset)}`,
  },
  {
    kind: 'merge-loads',
    counter: 'vm',
    isScalar: false,
    pattern: new RegExp(
      `^buffer_load_dword(?<wide>x2)? ${DATA}, (?<address>[^ ]+, [^ ]+, [^ ]+ offen)(?: offset:(?<offset>\\d+))?$`,
    ),
    text: ({ address }, dwords, to, offset) => `buffer_load_dwordx${dwords} ${to}, ${address}${offsetText(offset)}`,
  },
  {
    kind: 'merge-loads',
    counter: 'lgkm',
    isScalar: false,
    pattern: new RegExp(`^ds_read_b(?<wide>32|64) ${DATA}, (?<address>v\\d+)(?: offset:(?<offset>\\d+))?$`),
    text: ({ address }, dwords, to, offset) => `ds_read_b${32 * dwords} ${to}, ${address}${offsetText(offset)}`,
  },
  {
    kind: 'merge-stores',
    counter: 'lgkm',
    isScalar: false,
    pattern: new RegExp(`^ds_write_b(?<wide>32|64) (?<address>v\\d+), ${DATA}(?: offset:(?<offset>\\d+))?$`),
    text: ({ address }, dwords, data, offset) => `ds_write_b${32 * dwords} ${address}, ${data}${offsetText(offset)}`,
  },
  {
    kind: 'merge-loads',
    counter: 'lgkm',
    isScalar: true,
    pattern:
      /^s_load_dword(?<wide>x2|x4|x8)? s(?:(?<one>\d+)|\[(?<many>\d+):\d+\]), (?<address>s\[\d+:\d+\]), (?<offset>0x[0-9a-f]+)$/,
    text: ({ address }, dwords, to, offset) => `s_load_dwordx${dwords} ${to}, ${address}, 0x${offset.toString(16)}`,
  },
];

interface Access {
  readonly code: CodeInstruction;
  readonly form: Form;
  readonly parts: Parts;
  readonly first: number;
  readonly dwords: number;
  readonly offset: number;
}

const DWORDS: Readonly<Record<string, number>> = { x2: 2, x4: 4, x8: 8, '32': 1, '64': 2 };

function accessOf(view: KernelView, code: CodeInstruction): Access | undefined {
  const text = view.text(code);
  for (const form of FORMS) {
    const parts: Parts | undefined = form.pattern.exec(text)?.groups;
    if (parts === undefined) continue;
    const dwords = parts.wide === undefined ? 1 : (DWORDS[parts.wide] as number);
    return { code, form, parts, first: Number(parts.one ?? parts.many), dwords, offset: Number(parts.offset ?? 0) };
  }
  return undefined;
}

/** Pairs whose registers and addresses follow each other, with nothing between that needs either, and no wait. */
export function merged(view: KernelView, region: readonly CodeInstruction[]): Move[] {
  const moves: Move[] = [];
  region.forEach((code, at) => {
    const one = accessOf(view, code);
    if (one === undefined) return;
    for (let i = at + 1; i < region.length; i++) {
      const between = region[i] as CodeInstruction;
      if (waitRole(between.instruction.row).isWait) return;
      const two = accessOf(view, between);
      const move = two === undefined ? undefined : mergeOf(view, region, at, i, one, two);
      if (move !== undefined) moves.push(move);
      const { flags } = between.instruction.row;
      // A store may go to where another access of the same memory is.
      const isBound = flags.has('mayStore') || (one.form.kind === 'merge-stores' && isMemory(between));
      if (one.form.kind === 'merge-loads' && dependsOn(code, between)) return;
      if (isBound) return;
    }
  });
  return moves;
}

function mergeOf(
  view: KernelView,
  region: readonly CodeInstruction[],
  at: number,
  to: number,
  one: Access,
  two: Access,
): Move | undefined {
  const [low, high] = one.offset < two.offset ? [one, two] : [two, one];
  const { form, parts } = one;
  const dwords = 2 * one.dwords;
  const fits =
    form === two.form &&
    parts.address === two.parts.address &&
    parts.base === two.parts.base &&
    one.dwords === two.dwords &&
    low.offset + 4 * low.dwords === high.offset &&
    low.first + low.dwords === high.first &&
    low.first % (form.isScalar && dwords > 2 ? 4 : 2) === 0;
  if (!fits || dependsOn(one.code, two.code)) return undefined;
  const between = region.slice(at + 1, to);
  const isLoad = form.kind === 'merge-loads';
  // A load goes up to the first, a store down to the second.
  if (between.some((code) => dependsOn(code, isLoad ? two.code : one.code))) return undefined;
  const prefix = form.isScalar ? 's' : 'v';
  const text = form.text(parts, dwords, `${prefix}[${low.first}:${low.first + dwords - 1}]`, low.offset);
  let line: Uint8Array;
  try {
    line = view.line(text);
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return undefined;
  }
  const [kept, gone] = isLoad ? [one.code, two.code] : [two.code, one.code];
  const replace = new Map<number, Uint8Array>([
    [kept.pc, line],
    [gone.pc, new Uint8Array()],
  ]);
  // One operation less is outstanding: waits behind count one less, as far as this stretch goes. Scalar loads are not counted.
  for (const code of form.isScalar ? [] : region.slice(to + 1)) {
    if (!waitRole(code.instruction.row).isWait) continue;
    const { vm, lgkm } = waitCounts(code.instruction);
    const [count, full] = form.counter === 'vm' ? [vm, VM_FULL] : [lgkm, LGKM_FULL];
    if (count === 0) break;
    if (count >= full) continue;
    const fewer = form.counter === 'vm' ? waitLine(vm - 1, lgkm) : waitLine(vm, lgkm - 1);
    if (fewer !== undefined) replace.set(code.pc, view.line(fewer));
  }
  return { kind: form.kind, pc: kept.pc, text, replace };
}
