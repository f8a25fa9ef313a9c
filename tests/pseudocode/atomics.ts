// Atomics of LDS and memory against AMD's pseudo-code: what they leave in memory, and that they return what was there. The texts say `MEM[addr]`,
// `DATA` and `DATA2`; here they become the destination and the sources of a vector operation, which the evaluator knows.
import { bindInstruction } from '../../src/device/sim/interpreter/loaded-code.ts';
import { LANES, type Wave } from '../../src/device/sim/state/wave.ts';
import { type AtomicOperation, semanticsOf } from '../../src/isa/semantics/index.ts';
import type { TargetName } from '../../src/isa/types.ts';
import { makeWave, parse } from '../support/one-instruction.ts';
import { compareBits, type Difference, operandBits, type Random } from './compare.ts';
import type { Evaluator } from './evaluate.ts';

/** Bytes between the places of two lanes. */
const STEP = 16;
const MEMORY = 's[96:97]';

/** The name of an atomic that returns what was there, `DS_ADD_RTN_U32`, and its text; undefined for other operations. */
export function atomicText(key: string, text: string): { name: string; text: string } | undefined {
  const [encoding, operation = ''] = key.split('.');
  const isLds =
    encoding === 'DSOp' && /_RTN_/.test(operation) && !/2|CONDXCHG/.test(operation.replace(/[BUIF](16|32|64)$/, ''));
  const isGlobal = encoding === 'GLOBALOp' && operation.includes('ATOMIC');
  if (!isLds && !isGlobal) return undefined;
  const statements = text.split('\n').filter((line) => !/^\s*(addr\d? =|RETURN_DATA)/.test(line));
  const place = String.raw`MEM\[(?:addr|ADDR)\]`;
  const rewritten = statements
    .join('\n')
    .replace(/;\s*$/, '')
    .replace(new RegExp(`${place}(\\.\\w+) ([+-])= `, 'g'), 'D0$1 = S0$1 $2 ')
    .replace(new RegExp(`${place}(\\.\\w+)? = `, 'g'), 'D0$1 = ')
    .replace(new RegExp(`${place}`, 'g'), 'S0')
    .replace(/\bDATA2\b/g, 'S2')
    .replace(/\bDATA\b/g, 'S1')
    .replace('D0 = ', 'D0.b32 = ')
    .replace(/= (S[01])(;|\n|$)/g, '= $1.b32$2');
  return { name: operation, text: rewritten };
}

const words = (op: AtomicOperation): number => (/64/.test(op.type) ? 2 : 1);

/** The instruction as text: the returned value in v0, addresses in v8, data in v16 and v24. */
function instructionText(target: TargetName, name: string, op: AtomicOperation): string {
  const n = words(op);
  const registers = (first: number, count: number): string =>
    count === 1 ? `v${first}` : `v[${first}:${first + count - 1}]`;
  if (name.startsWith('ds_')) {
    const second = op.data === 'one' ? '' : `, ${registers(24, n)}`;
    return `${name} ${registers(0, n)}, v8, ${registers(16, n)}${second}`;
  }
  const returns = target === 'gfx90a' ? 'glc' : 'sc0';
  return `${name} ${registers(0, n)}, v8, ${registers(16, op.data === 'one' ? n : 2 * n)}, ${MEMORY} ${returns}`;
}

/** LDS, or the memory at s[96:97]. */
export function memoryOf(w: Wave, isLds: boolean, bytes: number): DataView {
  if (isLds) return w.workgroup.ldsView;
  const base = Number(w.s64(96));
  return w.memory.access(base, bytes, true).view;
}

const hex = (n: bigint): string => n.toString(16);

/** One execution by 64 lanes, of which each has a place of its own; undefined when the target has no such atomic. */
export function compareAtomic(
  evaluator: Evaluator,
  name: string,
  target: TargetName,
  random: Random,
): Difference[] | undefined {
  const operation = name.toLowerCase();
  const op = semanticsOf(operation);
  if (op?.kind !== 'atomic') return undefined;
  let instruction: ReturnType<typeof parse>;
  try {
    instruction = parse(target, instructionText(target, operation, op));
  } catch {
    return undefined;
  }
  const isLds = operation.startsWith('ds_');
  const w = makeWave(target);
  const view = memoryOf(w, isLds, STEP * LANES);
  const n = words(op);
  const width = 32 * n;
  const one = (): bigint => operandBits(random, op.type);
  const cases = Array.from({ length: LANES }, () => {
    const before = one();
    const [data, data2] = [one(), one()];
    // Comparisons that succeed would be rare.
    const isSame = op.data !== 'one' && random() < 0.5;
    return { before, data: isSame && isLds ? before : data, data2: isSame && !isLds ? before : data2 };
  });
  cases.forEach(({ before, data, data2 }, lane) => {
    w.vgprs[8 * LANES + lane] = STEP * lane;
    for (let k = 0; k < n; k++) {
      const wordOf = (bits: bigint): number => Number(BigInt.asIntN(32, bits >> BigInt(32 * k)));
      view.setInt32(STEP * lane + 4 * k, wordOf(before), true);
      w.vgprs[(16 + k) * LANES + lane] = wordOf(data);
      w.vgprs[((isLds ? 24 : 16 + n) + k) * LANES + lane] = wordOf(data2);
    }
  });
  bindInstruction(instruction, target)(w);
  const differences: Difference[] = [];
  cases.forEach(({ before, data, data2 }, lane) => {
    // In memory both data are one operand: the new value first.
    const sources = isLds ? [before, data, data2] : [before, data | (data2 << BigInt(width)), 0n];
    const rest = { literal: 0n, truthTable: 0n, vcc: 0n, exec: -1n, scc: false, ieee: true, destination: 0n };
    const outcome = evaluator.run(name, { ...rest, sources, lane });
    let [got, returned] = [0n, 0n];
    for (let k = n - 1; k >= 0; k--) {
      got = (got << 32n) | BigInt(view.getUint32(STEP * lane + 4 * k, true));
      returned = (returned << 32n) | BigInt((w.vgprs[k * LANES + lane] as number) >>> 0);
    }
    const shown = sources.map(hex);
    const difference = compareBits(outcome, got, width);
    if (difference !== undefined) differences.push({ sources: shown, ...difference });
    if (returned !== before)
      differences.push({ sources: shown, what: 'returned', expected: hex(before), got: hex(returned) });
  });
  return differences;
}
