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
import { isPlausibleFloat, wordText } from './words.ts';

/** Constants that are tried; the rarest are the last in the code of most candidates. */
const MOST = 6;
/** Arguments that are given each of them. */
const MAX_SCALARS = 3;
/** Words of data that hold a constant: this share. */
const SHARE = 8;
/** Wave instructions of a launch that reaches a number. */
const MOST_REACHING = 1_000_000;

const COMPARES = /^(?:v_cmpx?_|s_cmpk?_|s_bitcmp)/;

/** Constants that decide something: of comparisons all, of other arithmetic those that stand as literals. As words. */
function constantsOf(codeObject: CodeObject, kernel: string): Set<number> {
  const found = new Set<number>();
  for (const { instruction } of liftCodeObject(codeObject, { kernels: new Set([kernel]) }).instructions) {
    const { row, operands } = instruction;
    const isCompare = COMPARES.test(row.operation);
    if (!isCompare && !row.flags.has('VALU') && !row.flags.has('SALU')) continue;
    for (const [n, operand] of operands.entries()) {
      const word = wordOf(operand, isCompare, row.operands[n]?.name ?? '');
      if (word !== undefined) found.add(word >>> 0);
    }
  }
  return found;
}

function wordOf(operand: Operand, isCompare: boolean, name: string): number | undefined {
  if (operand.kind === 'literal') return operand.bits;
  if (!isCompare) return undefined;
  if (operand.kind === 'inline') return inlineWords(operand.encoding, 'f32')[0];
  return operand.kind === 'imm' && name === 'simm16' ? operand.value : undefined;
}

/** Constants of a candidate that the baseline has not, at most a few; nought and one are inputs in any case. */
export function newConstants(baseline: CodeObject, candidate: CodeObject, kernel: string): number[] {
  const known = constantsOf(baseline, kernel);
  return [...constantsOf(candidate, kernel)].filter((word) => word > 1 && !known.has(word)).slice(0, MOST);
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
  for (const word of constants) {
    const text = wordText(word);
    const isInteger = !isPlausibleFloat(word);
    for (const argument of scalars) {
      const { name, at, word: captured } = argument;
      // Itself, a neighbour, and what makes it the sum of two arguments.
      const sums = scalars.filter((s) => s !== argument && s.word < word).map((s) => word - s.word);
      for (const value of new Set(isInteger ? [word, (word + 1) >>> 0, ...sums] : [word, (word ^ 1) >>> 0])) {
        if (value === captured) continue;
        const by = Math.ceil(value / Math.max(1, captured));
        const isCount = isInteger && captured > 1 && !isPlausibleFloat(captured);
        const grown = isCount && by > 1 ? roomFor(capture, seed, instructions, by) : undefined;
        const base = grown ?? { capture, edits: [] };
        const edits = [...base.edits, argumentEdit(base.capture, at, value)];
        const patience = patienceOf(instructions * (grown === undefined ? 1 : by));
        const growth = grown === undefined ? 1 : by;
        add(`argument ${name} is ${wordText(value)}`, { capture: base.capture, edits, growth, patience });
      }
    }
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
