// Executes typed buffer access (buffer_*_format_*, tbuffer_*): components are converted by a data format and a number format.
// Source: AMD CDNA3 ISA, "Memory buffer load/store format conversion", data format and number format tables (GFX9 encoding).
import { bitsFromF16, bitsFromF32, f16FromBits, f32FromBits, rint } from '../../../base/elements/formats.ts';
import { immediateOf, operandNamed } from '../../../isa/operand.ts';
import type { FormatOperation } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { EXEC, LANES, M0, maskBit, type Wave } from '../state/wave.ts';
import { KernelStop } from './kernel-stop.ts';
import { bindBuffer } from './memory-access.ts';
import { vectorBase } from './operands.ts';
import { type BufferResource, ldsSpace, loadGlobal, storeGlobal } from './spaces.ts';
import type { Step } from './vector.ts';

/** Component widths in bits, by data format number. */
const LAYOUTS: Readonly<Record<number, readonly number[]>> = {
  1: [8],
  2: [16],
  3: [8, 8],
  4: [32],
  5: [16, 16],
  6: [11, 11, 10],
  7: [10, 11, 11],
  8: [2, 10, 10, 10],
  9: [10, 10, 10, 2],
  10: [8, 8, 8, 8],
  11: [32, 32],
  12: [16, 16, 16, 16],
  13: [32, 32, 32],
  14: [32, 32, 32, 32],
};
const UNORM = 0;
const SNORM = 1;
const USCALED = 2;
const SSCALED = 3;
const UINT = 4;
const SINT = 5;
const FLOAT = 7;

const signExtend = (raw: number, bits: number): number => (bits === 32 ? raw | 0 : (raw << (32 - bits)) >> (32 - bits));

/** Component widths in bits of a data format, undefined when it has no type. */
export const componentLayout = (dataFormat: number): readonly number[] | undefined => LAYOUTS[dataFormat];
/** Whether components of a number format are integers. */
export const isIntegerFormat = (format: number): boolean => format === UINT || format === SINT;

/** Memory bits of a component to the 32-bit register value (f32 bits or an integer). */
export function fromMemory(raw: number, bits: number, format: number): number {
  const unsigned = bits === 32 ? raw >>> 0 : raw;
  const largest = 2 ** bits - 1;
  switch (format) {
    case UNORM:
      return bitsFromF32(unsigned / largest);
    case SNORM:
      return bitsFromF32(Math.max(-1, signExtend(raw, bits) / (2 ** (bits - 1) - 1)));
    case USCALED:
      return bitsFromF32(unsigned);
    case SSCALED:
      return bitsFromF32(signExtend(raw, bits));
    case UINT:
      return raw | 0;
    case SINT:
      return signExtend(raw, bits);
    case FLOAT:
      if (bits === 32) return raw | 0;
      if (bits === 16) return bitsFromF32(f16FromBits(raw));
      // 11- and 10-bit floats have no sign and five exponent bits: f16 without its low fraction bits.
      return bitsFromF32(f16FromBits(raw << (15 - bits)));
    default:
      throw new KernelStop('sim/unsupported-format', `Buffer number format ${format} is reserved.`);
  }
}

/** The register value of a component to memory bits. */
export function toMemory(value: number, bits: number, format: number): number {
  const x = f32FromBits(value);
  const largest = 2 ** bits - 1;
  const limit = (v: number, low: number, high: number): number =>
    Number.isNaN(v) ? 0 : Math.min(high, Math.max(low, v));
  const half = 2 ** (bits - 1);
  switch (format) {
    case UNORM:
      return rint(limit(x, 0, 1) * largest);
    case SNORM:
      return rint(limit(x, -1, 1) * (half - 1));
    case USCALED:
      return Math.trunc(limit(x, 0, largest));
    case SSCALED:
      return Math.trunc(limit(x, -half, half - 1));
    case UINT:
      return limit(value >>> 0, 0, largest);
    case SINT:
      return limit(value, -half, half - 1);
    case FLOAT:
      if (bits === 32) return value;
      if (bits === 16) return bitsFromF16(x);
      return x < 0 ? 0 : bitsFromF16(x) >> (15 - bits);
    default:
      throw new KernelStop('sim/unsupported-format', `Buffer number format ${format} is reserved.`);
  }
}

/** Data and number format of an access: the instruction's for MTBUF, the descriptor's for MUBUF. */
function formatsOf(instruction: Instruction, op: FormatOperation, resource: BufferResource): [number, number] {
  if (op.space === 'buffer') return [resource.dataFormat, resource.numberFormat];
  const format = immediateOf(instruction, 'format');
  return [format & 15, (format >> 4) & 7];
}

/** Component widths in bits of an access, undefined when its format has no type. */
export function formatLayout(
  instruction: Instruction,
  op: FormatOperation,
  resource: BufferResource,
): readonly number[] | undefined {
  return componentLayout(formatsOf(instruction, op, resource)[0]);
}

/** Binds a typed buffer load or store. */
export function bindFormat(instruction: Instruction, op: FormatOperation): Step {
  const target = bindBuffer(instruction);
  const data = operandNamed(instruction, 'vdata');
  // Without a data register the converted dword goes to LDS, at M0 + offset + lane × 4.
  const base = data?.kind === 'reg' ? vectorBase(data) : -1;
  const ldsOffset = immediateOf(instruction, 'offset');
  const run = base < 0 ? loadToLds : op.direction === 'load' ? loadLane : storeLane;
  return (w) => {
    target.prepare(w);
    const resource = target.resource();
    const [dataFormat, numberFormat] = formatsOf(instruction, op, resource);
    const layout = componentLayout(dataFormat);
    if (layout === undefined)
      throw new KernelStop('sim/unsupported-format', `Buffer data format ${dataFormat} is not typed.`);
    const bytes = layout.reduce((a, bits) => a + bits, 0) / 8;
    const low = w.sgprs[EXEC] as number;
    const high = w.sgprs[EXEC + 1] as number;
    for (let lane = 0; lane < LANES; lane++) {
      if (!maskBit(low, high, lane)) continue;
      w.lane = lane;
      const address = target.address(w, lane, 0, bytes);
      const at = base < 0 ? ((w.sgprs[M0] as number) >>> 0) + ldsOffset + 4 * lane : base + lane;
      run(w, op, at, address, layout, numberFormat, resource);
    }
  };
}

type LaneAccess = (
  w: Wave,
  op: FormatOperation,
  at: number,
  address: number,
  layout: readonly number[],
  format: number,
  resource: BufferResource,
) => void;

function bitsAt(w: Wave, address: number, position: number, bits: number): number {
  if (bits % 8 === 0) return loadGlobal(w.memory, address + position / 8, bits / 8);
  return (loadGlobal(w.memory, address, 4) >>> position) & (2 ** bits - 1);
}

/** The register values of the access's components. */
function readComponents(
  w: Wave,
  op: FormatOperation,
  address: number,
  layout: readonly number[],
  format: number,
  resource: BufferResource,
): number[] {
  const one = isIntegerFormat(format) ? 1 : 0x3f800000;
  let position = 0;
  const stored = layout.map((bits) => {
    const value = address < 0 ? 0 : fromMemory(bitsAt(w, address, position, bits), bits, format);
    position += bits;
    return value;
  });
  return Array.from({ length: op.components }, (_, n) => {
    const select = op.space === 'buffer' ? (resource.select[n] as number) : n + 4;
    if (address < 0 || select === 0) return 0;
    return select === 1 ? one : (stored[select - 4] ?? (select === 7 ? one : 0));
  });
}

const loadToLds: LaneAccess = (w, op, at, address, layout, format, resource) => {
  ldsSpace.store(w, at, 4, readComponents(w, op, address, layout, format, resource)[0] as number);
};

const loadLane: LaneAccess = (w, op, at, address, layout, format, resource) => {
  const integer = isIntegerFormat(format);
  const values = readComponents(w, op, address, layout, format, resource);
  for (let n = 0; n < op.components; n++) {
    const value = values[n] as number;
    if (op.d16 === undefined) {
      w.vgprs[at + n * LANES] = value;
      continue;
    }
    const half = integer ? value & 0xffff : bitsFromF16(f32FromBits(value));
    const register = at + (n >> 1) * LANES;
    // As with plain D16 loads, the half no component fills becomes zero.
    if ((n & 1) === 1) w.vgprs[register] = (w.vgprs[register] as number) | (half << 16);
    else w.vgprs[register] = op.d16 === 'high' ? half << 16 : half;
  }
};

const storeLane: LaneAccess = (w, op, at, address, layout, format) => {
  if (address < 0) return;
  const integer = isIntegerFormat(format);
  const component = (n: number): number => {
    if (n >= op.components) return 0;
    if (op.d16 === undefined) return w.vgprs[at + n * LANES] as number;
    const word = w.vgprs[at + (n >> 1) * LANES] as number;
    const half = (op.d16 === 'high' || (n & 1) === 1 ? word >>> 16 : word) & 0xffff;
    return integer ? (format === SINT ? (half << 16) >> 16 : half) : bitsFromF32(f16FromBits(half));
  };
  let position = 0;
  let packed = 0;
  layout.forEach((bits, n) => {
    const raw = toMemory(component(n), bits, format);
    if (bits % 8 === 0) storeGlobal(w.memory, address + position / 8, bits / 8, raw);
    else packed |= (raw & (2 ** bits - 1)) << position;
    position += bits;
  });
  if (layout.some((bits) => bits % 8 !== 0)) storeGlobal(w.memory, address, 4, packed);
};
