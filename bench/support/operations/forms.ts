// Text of instructions from the instruction table: each operand gets a register by its name, modifiers and selections as a form asks for.
import { decoderFor, printInstruction, tableFor } from '../../../src/isa/index.ts';
import type { InstructionRow, TargetName } from '../../../src/isa/types.ts';

/** Values of fields by operand name; what it does not name gets its register, or 0. A function is given the width of the field. */
export type Choice = Readonly<Record<string, number | ((width: number) => number)>>;

/** Registers of a loop's instruction `n`: results from v16, sources of its own from v64; further sources are shared. */
export const RESULTS = 16;
export const OWN = 64;
export const SECOND = 4;
export const THIRD = 8;
/** The scalar pair that carries go to, and the one that holds a value. */
export const SCALAR = 10;
const VECTOR = 256;
const VCC = 106;

/** The rows of a target that assembly can name, one for each mnemonic and template. */
export function rowsOf(target: TargetName): readonly InstructionRow[] {
  const seen = new Set<string>();
  return tableFor(target).rows.filter((row) => {
    const key = `${row.mnemonic} ${row.template} ${row.operands.map((o) => `${o.name} ${o.cls}`).join()}`;
    if (row.asmOnly || row.codeGenOnly || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function register(row: InstructionRow, name: string, n: number): number | undefined {
  const pair = 2 * n;
  switch (name) {
    case 'vdst':
      return row.operands.find((o) => o.name === 'vdst')?.cls.startsWith('S') === true ? VCC : RESULTS + pair;
    case 'sdst':
      return VCC;
    case 'src0':
      return OWN + pair;
    case 'src1':
    case 'vsrc1':
      return row.operands.find((o) => o.name === name)?.cls === 'SSrc_i1' ? VCC - VECTOR : SECOND;
    case 'src2':
      return row.operands.find((o) => o.name === name)?.cls === 'SSrc_i1' ? VCC - VECTOR : THIRD;
    default:
      return undefined;
  }
}

function fieldOf(row: InstructionRow, name: string, width: number, n: number, choice: Choice): number {
  const chosen = choice[name];
  if (chosen !== undefined) return typeof chosen === 'number' ? chosen : chosen(width);
  const known = register(row, name, n);
  // Nine bits name vector registers from 256 on.
  if (known !== undefined) return width === 9 && /src/.test(name) ? VECTOR + known : known;
  if (/modifiers$/.test(name) && row.flags.has('IsPacked')) return 8;
  if (/_sel$/.test(name)) return 6;
  return /_mask$/.test(name) ? 15 : 0;
}

/** The text of a row's instruction `n`, or undefined when the operands do not fit it. */
export function textOf(
  target: TargetName,
  row: InstructionRow,
  n: number,
  choice: Choice = {},
  literal = 0x3f7fbe77,
): string | undefined {
  const words = [...row.fixedBits, literal];
  for (const f of row.fields) {
    const value = fieldOf(row, row.operands[f.operand]?.name ?? '', f.width, n, choice);
    const bits = ((value >>> f.shift) & (f.width === 32 ? -1 : 2 ** f.width - 1)) >>> 0;
    const word = f.at >> 5;
    words[word] = ((words[word] as number) | (bits << (f.at & 31))) >>> 0;
  }
  const instruction = decoderFor(target).decode(new Uint8Array(Uint32Array.from(words).buffer), 0);
  if (instruction?.row.mnemonic !== row.mnemonic) return undefined;
  return printInstruction(target, instruction).trim();
}
