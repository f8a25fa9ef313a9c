// Mistakes in the code of a captured kernel: comparisons that are off by one, stores one element further, stores left out. Whether a mistake
// changes memory is judged here, by all memory of a run beside all memory of the original's, not by what replays compare.

import { DeviceFault, type SimDispatchRequest } from '../../src/device/index.ts';
import { TouchedBytes } from '../../src/device/sim/tools/index.ts';
import { type InstructionRow, immediate, type Operand } from '../../src/isa/index.ts';
import { operandNamed } from '../../src/isa/operand.ts';
import type { CodeInstruction } from '../../src/program/index.ts';
import { type Capture, deviceFor, placeCapture } from '../../src/snapshot/index.ts';
import { budgetBeside, replayOnce } from './capture-subjects.ts';
import { EditableKernel, encodeOne } from './prove-edits.ts';
import { siblingsOf } from './prove-mutants.ts';

export interface CaptureMutant {
  readonly kind: 'bound' | 'further' | 'stale';
  /** For people. */
  readonly what: string;
  readonly code: Uint8Array;
}

/** The memory that a run of a placed capture leaves, or the code of its failure; and the instructions that wrote. */
export interface Outcome {
  readonly memory: Buffer | string;
  readonly writers: ReadonlySet<number>;
  readonly instructions: number;
}

/** Runs a capture's kernel, or other code, on its memory. Bytes that depend on the order of waves are zero. */
export async function outcomeOf(capture: Capture, code?: Uint8Array, instructions = 0): Promise<Outcome> {
  const device = deviceFor(capture);
  try {
    const placed = placeCapture(device, capture, { code });
    placed.restore();
    const touched = new TouchedBytes({ keepsBefore: false });
    const request: SimDispatchRequest = { ...placed.request, engine: 'compiled', monitors: [touched] };
    const budget = instructions === 0 ? {} : { maxInstructions: budgetBeside(instructions) };
    const result = await device.dispatch({ ...request, ...budget });
    const parts = placed.chunks.map(({ buffer, offset, length, address }) => {
      const bytes = device.read(buffer, offset, length).slice();
      for (const range of capture.manifest.determinism?.varying ?? []) {
        const from = Math.max(0, range.address - address);
        bytes.fill(0, from, Math.max(from, Math.min(length, range.address + range.bytes - address)));
      }
      return bytes;
    });
    return { memory: Buffer.concat(parts), writers: touched.writers, instructions: result.instructions };
  } catch (error) {
    if (!(error instanceof DeviceFault)) throw error;
    return { memory: error.code, writers: new Set(), instructions };
  } finally {
    device.close();
  }
}

/** Comparisons by what they become one element further: the bound itself is inside, or no longer. */
const INCLUSIVE: Readonly<Record<string, string>> = { lt: 'le', le: 'lt', gt: 'ge', ge: 'gt' };

function neighbour(
  { instruction: { row } }: CodeInstruction,
  rows: readonly InstructionRow[],
): InstructionRow | undefined {
  const match = /^([sv]_cmpx?k?)_(lt|le|gt|ge)_(.*)$/.exec(row.operation);
  if (match === null) return undefined;
  const wanted = `${match[1]}_${INCLUSIVE[match[2] as string]}_${match[3]}`;
  return rows.find((r) => r.operation === wanted);
}

const S_NOP = Uint8Array.of(0, 0, 0x80, 0xbf);

/** A constant operand with its neighbour's value. */
function oneMore(operand: Operand): Operand | undefined {
  if (operand.kind === 'literal') return { ...operand, bits: (operand.bits + 1) >>> 0 };
  // Inline constants from 0 to 63; 64 and the negative ones have other encodings.
  if (operand.kind === 'inline' && operand.encoding >= 128 && operand.encoding < 192)
    return { ...operand, encoding: operand.encoding + 1 };
  return undefined;
}

/** Every mistake that fits into a kernel's code. `writers` are the instructions that wrote in its dispatch. */
export function captureMutants(capture: Capture, writers: ReadonlySet<number>): CaptureMutant[] {
  const kernel = new EditableKernel(capture.codeObject(), capture.manifest.dispatch.kernel);
  const { program } = kernel;
  const mutants: CaptureMutant[] = [];
  const add = (kind: CaptureMutant['kind'], code: CodeInstruction, bytes: Uint8Array | undefined): void => {
    if (bytes === undefined || bytes.length !== code.instruction.size) return;
    const what = `${kind} ${program.text(code.pc).trim()} at 0x${code.pc.toString(16)}`;
    mutants.push({ kind, what, code: kernel.patched(new Map([[code.pc, bytes]])) });
  };
  for (const code of program.instructions) {
    const { instruction } = code;
    const { operands, row, size } = instruction;
    if (/^[sv]_cmpx?k?_/.test(row.operation)) {
      const other = neighbour(code, siblingsOf(row, program.target));
      if (other !== undefined) add('bound', code, encodeOne(code, operands, other));
      for (const [i, operand] of operands.entries()) {
        const more = oneMore(operand);
        if (more !== undefined)
          add(
            'bound',
            code,
            encodeOne(
              code,
              operands.map((o, n) => (n === i ? more : o)),
            ),
          );
      }
    }
    if (!writers.has(code.pc)) continue;
    const at = operands.indexOf(operandNamed(instruction, 'offset') as Operand);
    const offset = operands[at];
    if (offset?.kind === 'imm') {
      const bytes = /byte/.test(row.operation) ? 1 : /short/.test(row.operation) ? 2 : 4;
      const moved = (by: number) => operands.map((o, n) => (n === at ? immediate(offset.value + by) : o));
      add('further', code, encodeOne(code, moved(bytes)) ?? encodeOne(code, moved(-bytes)));
    }
    const nothing = new Uint8Array(size);
    for (let n = 0; n < size; n += 4) nothing.set(S_NOP, n);
    add('stale', code, nothing);
  }
  return mutants;
}

export interface MutationScore {
  /** Mutants that change memory or fail, by kind. */
  readonly changed: Record<CaptureMutant['kind'], number>;
  /** Mutants that leave the memory of the original. */
  readonly same: number;
  /** Mutants that change memory and replay equal: there must be none. */
  readonly missed: readonly string[];
}

/** So many of a list, spread over it. */
const spread = <T>(list: readonly T[], most: number): readonly T[] =>
  list.length <= most ? list : Array.from({ length: most }, (_, i) => list[Math.floor((i * list.length) / most)] as T);

/** Replays mutants of a captured kernel, at most so many of each kind. */
export async function mutationScore(capture: Capture, most: number): Promise<MutationScore> {
  // As code of its own, like the mutants: variables are then placed as they are for those.
  const original = await outcomeOf(capture, capture.codeObject());
  const mutants = captureMutants(capture, original.writers);
  const changed = { bound: 0, further: 0, stale: 0 };
  const missed: string[] = [];
  let same = 0;
  for (const kind of ['bound', 'further', 'stale'] as const) {
    const all = mutants.filter((m) => m.kind === kind);
    for (const { what, code } of spread(all, most)) {
      const { memory } = await outcomeOf(capture, code, original.instructions);
      if (typeof memory !== 'string' && memory.equals(original.memory as Buffer)) {
        same++;
        continue;
      }
      changed[kind]++;
      const maxInstructions = budgetBeside(original.instructions);
      if ((await replayOnce(capture, { code, maxInstructions })).ok) missed.push(what);
    }
  }
  return { changed, same, missed };
}
