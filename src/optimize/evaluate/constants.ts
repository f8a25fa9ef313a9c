// Inputs that a candidate's own constants choose: what does something else at one value is right everywhere but there. Constants that the candidate
// has and the baseline has not become arguments, data, and the number of the last work-item. The baseline says what is right there, as on all inputs.
import type { CodeObject } from '../../codeobject/index.ts';
import { inlineWords } from '../../device/sim/interpreter/operands.ts';
import type { Operand } from '../../isa/types.ts';
import { liftCodeObject } from '../../program/index.ts';
import type { Capture } from '../../snapshot/index.ts';
import { growingBytes, grownCapture, MOST_GROWN } from './grown.ts';
import { dataAreas, editOf, type Input, LEAST_PATIENCE, patienceOf } from './inputs.ts';
import { argumentEdit, launchWith, scalarWords, withItems } from './launches.ts';
import { movedCapture } from './moved.ts';
import { LONG } from './part.ts';
import { isPlausibleFloat, wordText } from './words.ts';

/** Constants that become everything: each argument, also beside other constants and arguments, data, the number of a work-item. */
const MOST = 6;
/** Constants that become an argument and data, and the wave instructions that all their inputs may take. */
const MOST_MORE = 42;
const ALL_MORE = 2_000_000;
/** Constants that are added to each other. */
const MOST_ADDED = 4;
/** Arguments that are given each of them. */
const MAX_SCALARS = 3;
/** Words of data that hold a constant: this share. */
const SHARE = 8;
/** Wave instructions of a launch that reaches a number. */
const MOST_REACHING = 1_000_000;

const COMPARES = /^(?:v_cmpx?_|s_cmpk?_|s_bitcmp)/;
/** Where one value is unlike all others. */
const POINTS = /_(?:eq|lg|ne|neq|nlg)_|^s_bitcmp/;
const FIELDS = /_bfe_[iu]32/;
const SHIFTS = /^[sv]_lshl(?:rev)?_[bB]32/;
/** Shifts that cut numbers which counts and work-items may have. */
const CUTTING = { from: 8, to: 22 } as const;

/** How likely a constant is to be where a candidate is wrong: the lowest first. */
const Rank = { Point: 0, Compare: 1, Arithmetic: 2, Data: 3 } as const;
type Rank = (typeof Rank)[keyof typeof Rank];

/** Constants that decide something: of comparisons all, of other arithmetic literals and the sizes of fields, and words of tables. As words. */
function constantsOf(codeObject: CodeObject, kernel: string): Map<number, Rank> {
  const found = new Map<number, Rank>();
  const add = (word: number | undefined, rank: Rank): void => {
    if (word === undefined) return;
    found.set(word >>> 0, Math.min(rank, found.get(word >>> 0) ?? rank) as Rank);
  };
  const { instructions } = liftCodeObject(codeObject, { kernels: new Set([kernel]) });
  for (const { instruction } of instructions) {
    const { row, operands } = instruction;
    const isCompare = COMPARES.test(row.operation);
    if (!isCompare && !row.flags.has('VALU') && !row.flags.has('SALU')) continue;
    const rank = isCompare ? (POINTS.test(row.operation) ? Rank.Point : Rank.Compare) : Rank.Arithmetic;
    for (const [n, operand] of operands.entries()) add(wordOf(operand, isCompare, row.operands[n]?.name ?? ''), rank);
    add(beyondField(row.operation, operands), Rank.Arithmetic);
  }
  const code = new Set(instructions.flatMap(({ pc, instruction: { size } }) => (size > 4 ? [pc, pc + 4] : [pc])));
  for (const word of tableWords(codeObject, code)) add(word, Rank.Data);
  return found;
}

function wordOf(operand: Operand, isCompare: boolean, name: string): number | undefined {
  if (operand.kind === 'literal') return operand.bits;
  if (!isCompare) return undefined;
  if (operand.kind === 'inline') return inlineWords(operand.encoding, 'f32')[0];
  return operand.kind === 'imm' && name === 'simm16' ? operand.value : undefined;
}

/** The least number that is too large for the field of bits that an instruction takes, or for what a shift leaves. */
function beyondField(operation: string, operands: readonly Operand[]): number | undefined {
  const numbers = operands.flatMap((operand) =>
    operand.kind === 'literal'
      ? [operand.bits]
      : operand.kind === 'inline'
        ? [inlineWords(operand.encoding, 'i32')[0]]
        : [],
  );
  if (FIELDS.test(operation)) {
    // Of the scalar unit offset and width are one number. Source: CDNA3 ISA manual, S_BFE_U32.
    const packed = numbers.at(-1) ?? 0;
    const bits = operation.startsWith('s_')
      ? (packed & 31) + ((packed >> 16) & 127)
      : numbers.slice(-2).reduce((a, b) => a + b, 0);
    return bits > 1 && bits < 32 ? 2 ** bits : undefined;
  }
  const by = SHIFTS.test(operation) ? numbers[0] : undefined;
  return by !== undefined && by >= CUTTING.from && by <= CUTTING.to ? 2 ** (32 - by) : undefined;
}

/** Words of the data that a code object brings, also between code, without the descriptors of kernels. `code`: addresses of words that are executed. */
function* tableWords({ elf }: CodeObject, code: ReadonlySet<number>): Generator<number> {
  const descriptors = elf.symbols.filter(({ name }) => name.endsWith('.kd')).map(({ value }) => Number(value));
  for (const { name, address, bytes } of elf.sections) {
    if (!TABLES.test(name)) continue;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at + 4 <= bytes.length && at < MOST_TABLE; at += 4) {
      if (code.has(address + at)) continue;
      if (descriptors.some((start) => address + at >= start && address + at < start + DESCRIPTOR_BYTES)) continue;
      yield view.getUint32(at, true);
    }
  }
}

const TABLES = /^\.(?:rodata|data|text)/;
/** Bytes of a section that are looked at. */
const MOST_TABLE = 4096;
const DESCRIPTOR_BYTES = 64;

/** Constants of a candidate that the baseline has not, at most some; nought and one are inputs in any case. */
export function newConstants(baseline: CodeObject, candidate: CodeObject, kernel: string): number[] {
  const known = constantsOf(baseline, kernel);
  const found = [...constantsOf(candidate, kernel)].filter(([word]) => word > 1 && !known.has(word));
  return found
    .sort(([, a], [, b]) => a - b)
    .map(([word]) => word)
    .slice(0, MOST + MOST_MORE);
}

/** Inputs with these constants. `instructions`: of the captured launch; `ownsLaunch` as in `heldOutInputs`. */
export function constantInputs(
  capture: Capture,
  seed: number,
  instructions: number,
  constants: readonly number[],
  ownsLaunch = false,
): Input[] {
  const inputs: Input[] = [];
  const add = (name: string, parts: Partial<Input>): void => {
    const patience = patienceOf(instructions);
    inputs.push({ name, capture, edits: [], request: {}, isStrict: false, growth: 1, patience, ...parts });
  };
  const areas = dataAreas(capture);
  const scalars = ownsLaunch ? [] : scalarWords(capture).slice(0, MAX_SCALARS);
  let left = ALL_MORE;
  for (const [nth, word] of constants.entries()) {
    const isFirst = nth < MOST;
    const text = wordText(word);
    const isInteger = !isPlausibleFloat(word);
    const others = constants.slice(nth + 1, MOST_ADDED).map((other) => (word + other) >>> 0);
    for (const argument of scalars) {
      const { name, at, word: captured } = argument;
      // Itself, a neighbour, what makes it the sum of two arguments, and the sum of it and another one.
      const sums = scalars.filter((s) => s !== argument && s.word < word).map((s) => word - s.word);
      const near = isInteger ? [(word + 1) >>> 0, ...sums, ...others] : [(word ^ 1) >>> 0];
      for (const value of new Set([word, ...(isFirst ? near : [])])) {
        if (value === captured) continue;
        const by = Math.ceil(value / Math.max(1, captured));
        const isCount = isInteger && captured > 1 && !isPlausibleFloat(captured);
        const grown = isCount && by > 1 ? roomFor(capture, seed, instructions, by) : undefined;
        const base = grown ?? { capture, edits: [] };
        const edits = [...base.edits, argumentEdit(base.capture, at, value)];
        const patience = patienceOf(instructions * (grown === undefined ? 1 : by));
        const growth = grown === undefined ? 1 : by;
        if (!isFirst) left -= Math.min(LONG, instructions * growth);
        if (left < 0) continue;
        add(`argument ${name} is ${wordText(value)}`, { capture: base.capture, edits, growth, patience });
      }
    }
    if (!isFirst) continue;
    const edits = areas.flatMap((area) =>
      editOf(
        area,
        area.words.map((w, i) => (i % SHARE === 0 ? word : i % SHARE === 1 ? (word + 1) >>> 0 : w)),
      ),
    );
    if (edits.length > 0) add(`${text} among the data`, { edits });
    if (isInteger && !ownsLaunch)
      for (const input of reaching(capture, seed, instructions, word)) add(input.name, input);
  }
  const more = constants.slice(MOST);
  const edits = areas.flatMap((area) =>
    more.length === 0
      ? []
      : editOf(
          area,
          area.words.map((w, i) => (i % SHARE === 0 ? (more[(i / SHARE) % more.length] as number) : w)),
        ),
  );
  if (edits.length > 0) add(`${more.length} other constants among the data`, { edits });
  return inputs;
}

/** The capture with buffers that are as many times larger; undefined when that is too much. */
function roomFor(capture: Capture, seed: number, instructions: number, by: number) {
  if (growingBytes(capture) * by > MOST_GROWN || instructions * by > MOST_REACHING) return undefined;
  const moved = movedCapture(capture, { room: by });
  return moved === undefined ? undefined : { capture: grownCapture(moved.capture, by, seed), edits: moved.edits };
}

/** Launches that have a work-item of a number and the next one, with an argument that counts as many more. */
function* reaching(capture: Capture, seed: number, instructions: number, number: number): Generator<Input> {
  const { gridWorkItems, block } = capture.manifest.dispatch;
  const wanted = Math.ceil((number + 2) / block[0]) * block[0];
  if (wanted <= gridWorkItems[0]) return;
  const counts = scalarWords(capture).filter(({ word }) => word > 1 && !isPlausibleFloat(word));
  for (const count of counts.length === 0 ? [undefined] : counts.slice(0, MAX_SCALARS)) {
    const by = Math.ceil(wanted / Math.min(gridWorkItems[0], count?.word ?? gridWorkItems[0]));
    const grown = roomFor(capture, seed, instructions, by);
    if (grown === undefined) continue;
    const { request, edits } = launchWith(grown.capture, withItems(gridWorkItems, 0, wanted));
    const own = count === undefined ? [] : [argumentEdit(grown.capture, count.at, (count.word * by) >>> 0)];
    yield {
      name: `${wanted} work-items in x${count === undefined ? '' : `, argument ${count.name} is ${count.word * by}`}`,
      capture: grown.capture,
      request,
      edits: [...grown.edits, ...edits, ...own],
      isStrict: false,
      growth: by,
      patience: 2 * by * instructions + LEAST_PATIENCE,
    };
  }
}
