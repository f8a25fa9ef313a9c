// Values of registers at instructions: of matrix instructions the results as matrices, of others what they write, dword by dword.
import { f32FromBits, f64FromWords } from '../../base/elements/formats.ts';
import type { Register } from '../../isa/index.ts';
import { outputPosition, semanticsOf } from '../../isa/semantics/index.ts';
import { records } from '../state.ts';
import { defineProbe, settingError } from '../types.ts';
import type { ProbeInstruction, ProbeProgram } from '../view.ts';

/** The registers of an instruction's result; its data for one that has none. */
function registersOf({ code }: ProbeInstruction): Register[] {
  const { operands, row } = code.instruction;
  const all = operands.map((operand, i) => ({ operand, isOut: row.operands[i]?.isOut === true }));
  const vector = all.flatMap(({ operand, isOut }) =>
    operand.kind === 'reg' && (operand.file === 'v' || operand.file === 'a') ? [{ register: operand, isOut }] : [],
  );
  const results = vector.filter(({ isOut }) => isOut);
  return (results.length > 0 ? results : vector).map(({ register }) => register);
}

/** The instructions that `at` names: addresses, or a part of the text; matrix instructions otherwise. */
function chosen(program: ProbeProgram, at: string): ProbeInstruction[] {
  const all = program.instructions();
  if (at === '') return all.filter((one) => one.isMatrix);
  const addresses = at.split(',').map((text) => (/^0x[\da-f]+$/i.test(text) ? Number(text) : undefined));
  if (addresses.every((pc) => pc !== undefined)) return all.filter((one) => addresses.includes(one.pc));
  const found = all.filter((one) => one.text.includes(at));
  if (found.length === 0) throw settingError('reg-values', 'at', at, 'no instruction has this address or text');
  return found;
}

/** Lists of records with so many dwords: all values of one instruction are in one record, whatever other waves do meanwhile. */
const SIZES = [1, 2, 4, 8, 16, 32] as const;
type Size = (typeof SIZES)[number];
const ROOM = 1 << 14;

function listOf(size: Size) {
  const dwords = Object.fromEntries(Array.from({ length: size }, (_, i) => [`d${i}`, 'lane32' as const]));
  return records({ exec: 'u64', ...dwords } as { readonly exec: 'u64' } & Readonly<Record<`d${number}`, 'lane32'>>, {
    capacity: ROOM / size,
  });
}

const STATE = {
  of1: listOf(1),
  of2: listOf(2),
  of4: listOf(4),
  of8: listOf(8),
  of16: listOf(16),
  of32: listOf(32),
};

export default defineProbe({
  name: 'reg-values',
  summary: 'values of registers behind instructions; results of matrix instructions as matrices',
  state: STATE,
  settings: {
    at: {
      summary: 'addresses (0x1f0,0x200) or a part of the text of instructions; matrix instructions otherwise',
      value: '',
    },
  },
  instrument({ program, at, settings }) {
    for (const one of chosen(program, settings.at ?? '')) {
      const registers = registersOf(one).flatMap(({ file, index, dwords }) =>
        Array.from({ length: dwords }, (_, i) => `${file}${index + i}`),
      );
      const size = SIZES.find((n) => n >= registers.length);
      if (registers.length === 0 || size === undefined) continue;
      at.after(one, (p) => {
        const dwords = Array.from({ length: size }, (_, i) => p.readReg(registers[i] ?? (registers[0] as string)));
        p.append(`of${size}`, {
          exec: p.exec,
          ...Object.fromEntries(dwords.map((value, i) => [`d${i}`, value])),
        } as never);
      });
    }
  },
  report({ program, state }) {
    const lists = SIZES.map((size) => ({ size, ...state[`of${size}`] }));
    const values = lists.flatMap(({ size, records: list }) =>
      list.flatMap((record) => {
        const { pc } = record.site;
        const one = program.at(pc);
        if (one === undefined) return [];
        const registers = registersOf(one);
        const count = registers.reduce((sum, { dwords }) => sum + dwords, 0);
        const dwords = Array.from({ length: size }, (_, i) => record[`d${i}`] as Uint32Array).slice(0, count);
        const tiles = tilesOf(one, dwords);
        const common = {
          pc,
          instruction: one.text,
          exec: `0x${record.exec.toString(16)}`,
          registers: registers.map((r) => r.text),
        };
        return [{ ...common, ...(tiles === undefined ? { dwords: dwords.map((lanes) => [...lanes]) } : { tiles }) }];
      }),
    );
    const sum = (of: (list: (typeof lists)[number]) => number): number => lists.reduce((all, one) => all + of(one), 0);
    return { appended: sum((one) => one.appended), dropped: sum((one) => one.dropped), values };
  },
  text: ({ appended, dropped, values }) => [
    `${appended} times, ${dropped} dropped`,
    ...(values as { pc: number; instruction: string; tiles?: number[][][]; dwords?: number[][] }[])
      .slice(0, 8)
      .flatMap((one) => [
        `${one.pc.toString(16)}  ${one.instruction}`,
        ...(one.tiles ?? one.dwords?.map((lanes) => [lanes]) ?? []).flatMap((tile, i) => [
          ...(i === 0 ? [] : ['']),
          ...tile.map((row) =>
            row.map((x) => String(Number.isInteger(x) ? x : Number(x.toPrecision(5))).padStart(9)).join(''),
          ),
        ]),
      ]),
  ],
});

/** The results of a matrix instruction by block, row and column. */
function tilesOf({ code }: ProbeInstruction, dwords: readonly Uint32Array[]): number[][][] | undefined {
  const operation = semanticsOf(code.instruction.row.operation);
  if (operation?.kind !== 'matrix') return undefined;
  const { d, m, n, blocks } = operation;
  const size = d === 'f64' ? 2 : 1;
  return Array.from({ length: blocks }, (_, block) =>
    Array.from({ length: m }, (__, i) =>
      Array.from({ length: n }, (___, j) => {
        const [register, lane] = outputPosition(operation, block, i, j);
        const low = dwords[size * register]?.[lane] ?? 0;
        if (d === 'f64') return f64FromWords(low, dwords[size * register + 1]?.[lane] ?? 0);
        return d === 'i32' ? low | 0 : f32FromBits(low);
      }),
    ),
  );
}
