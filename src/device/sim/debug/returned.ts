// The value that a function has returned, as the calling convention of AMD GPUs has it: in vector registers from v0 on.
// Source: LLVM's AMDGPUUsage, "Calling Conventions", and clang's AMDGPUABIInfo::classifyReturnType: aggregates of at most 64 bits are packed
// into registers, larger ones of at most 16 registers have each member in registers of its own, the others are in memory.
import type { DebugType } from '../../../codeobject/index.ts';
import { LANES, type Wave } from '../state/wave.ts';
import type { Load, ShownVariable } from './typed.ts';

const WORD = 4;
const PACKED_BYTES = 8;
const MOST_REGISTERS = 16;
/** With all that alignment may put between members. */
const MOST_BYTES = 256;
/** Damaged debug information may have a type that contains itself. */
const MAX_DEPTH = 40;

/** Bytes of a value that are in registers of their own. */
interface Leaf {
  readonly offset: number;
  readonly bytes: number;
}

/** What a lane of a wave that has just returned got, or undefined for `void` and where the type does not say in which registers it is. */
export function returnedValue(
  type: DebugType | undefined,
  w: Wave,
  lane: number,
  load: Load,
): ShownVariable | undefined {
  if (type === undefined || type.bytes === 0 || type.bytes > MOST_BYTES || type.kind === 'unknown') return undefined;
  const leaves = leavesOfReturned(type);
  const words = (leaves ?? []).map(({ bytes }) => Math.ceil(bytes / WORD));
  const count = words.reduce((sum, n) => sum + n, 0);
  if (leaves === undefined || count === 0 || count > MOST_REGISTERS) return undefined;
  const bytes = new Uint8Array(type.bytes);
  let register = 0;
  for (const leaf of leaves) {
    for (let at = 0; at < leaf.bytes; at += WORD) {
      const word = new Uint8Array(Int32Array.of(w.vgprs[register++ * LANES + lane] as number).buffer);
      bytes.set(word.subarray(0, leaf.bytes - at), leaf.offset + at);
    }
  }
  // A bool is one bit.
  if (type.kind === 'bool') bytes[0] = (bytes[0] as number) & 1;
  const names = Array.from({ length: count }, (_, i) => `v${i}[${lane}]`);
  // What has gaps has no place of its own.
  const isWhole = leaves.length === 1;
  const home = isWhole ? ({ kind: 'registers', names, offset: 0 } as const) : undefined;
  return { name: '', kind: 'local', type, bytes, why: 'it was returned', home, wave: w, lane, load };
}

function leavesOfReturned(type: DebugType): readonly Leaf[] | undefined {
  const isAggregate = type.kind === 'struct';
  if (type.isByReference === true) return undefined;
  return isAggregate && type.bytes > PACKED_BYTES ? leavesOf(type, 0) : ownRegisters(type, 0);
}

/** A value that is in registers without gaps. */
function ownRegisters(type: DebugType, offset: number): readonly Leaf[] | undefined {
  const element = type.isVector === true ? type.of?.() : undefined;
  if (element === undefined) return type.kind === 'array' ? undefined : [{ offset, bytes: type.bytes }];
  // Elements of 16 bits are two in a register; smaller ones each have one.
  const isPacked = element.bytes >= WORD || (element.bytes === 2 && type.count % 2 === 0);
  return isPacked ? [{ offset, bytes: element.bytes * type.count }] : undefined;
}

/** Members of members, in order; undefined for bit fields, and where members of a union are not alike in size. */
function leavesOf(type: DebugType, offset: number, depth = 0): readonly Leaf[] | undefined {
  if (depth > MAX_DEPTH) return undefined;
  if (type.kind === 'array' && type.isVector !== true) {
    const element = type.of?.();
    if (element === undefined || type.count > MOST_REGISTERS) return undefined;
    return joined(
      Array.from({ length: type.count }, (_, i) => leavesOf(element, offset + i * element.bytes, depth + 1)),
    );
  }
  if (type.kind !== 'struct') return ownRegisters(type, offset);
  if (type.members.length === 0 || type.members.some(({ bits }) => bits !== undefined)) return undefined;
  const members = [...type.members].sort((a, b) => a.offset - b.offset);
  if (type.isUnion !== true) return joined(members.map((one) => leavesOf(one.type(), offset + one.offset, depth + 1)));
  if (members.some((one) => one.type().bytes !== type.bytes)) return undefined;
  const [first, ...others] = members.map((one) => leavesOf(one.type(), offset, depth + 1));
  const registers = (all: readonly Leaf[] | undefined): string => all?.flatMap(wordsOf).join() ?? '';
  return others.every((one) => registers(one) === registers(first)) ? first : undefined;
}

/** Where the words of a leaf begin; a smaller one has its bytes beside it. */
function wordsOf({ offset, bytes }: Leaf): string[] {
  const size = bytes % WORD === 0 ? '' : `:${bytes % WORD}`;
  return Array.from({ length: Math.ceil(bytes / WORD) }, (_, i) => `${offset + i * WORD}${size}`);
}

function joined(all: readonly (readonly Leaf[] | undefined)[]): readonly Leaf[] | undefined {
  return all.every((one) => one !== undefined) ? all.flat() : undefined;
}
