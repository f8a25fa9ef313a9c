// Executes vector memory, LDS and scalar memory operations: per-lane addresses, loads, stores, atomics, LDS-direct loads.
// Sources: AMD CDNA3 ISA, chapters "Vector Memory Buffer Instructions", "Flat Memory", "Data Share", "Scalar Memory".

import { immediateOf, operandNamed, requireOperand } from '../../../isa/operand.ts';
import type { AtomicOperation, LoadOperation, MemorySpace, StoreOperation } from '../../../isa/semantics/index.ts';
import type { Instruction, Register } from '../../../isa/types.ts';
import { EXEC, LANES, M0, maskBit, type Wave } from '../state/wave.ts';
import { bindAtomicUpdate } from './atomic.ts';
import { bindScalarWord, registerOf, vectorBase } from './operands.ts';
import {
  type BufferResource,
  bufferAddress,
  bufferSpace,
  flatSpace,
  globalSpace,
  ldsSpace,
  loadGlobal,
  readResource,
  replaceGlobal,
  type Space,
  scratchSpace,
  storeGlobal,
} from './spaces.ts';
import type { Step } from './vector.ts';

/** Encoding of the null register. */
const NULL = 125;

/** Gives the space and the address of byte `offset` of the current lane's access; -1 is out of range of a buffer. */
export interface Target {
  readonly space: Space;
  /** Called once per instruction, before the lanes. */
  readonly prepare: (w: Wave) => void;
  readonly address: (w: Wave, lane: number, offset: number, bytes: number) => number;
  /**
   * Writes the addresses of byte 0 of all lanes, active or not; false when this access has no such form now. Each lane's `span` bytes
   * follow each other and are within a buffer's bounds.
   */
  readonly addresses?: (w: Wave, span: number, out: Float64Array) => boolean;
  /** First word in `vgprs` of the 32-bit register that alone tells lanes apart; undefined when there is no such. */
  readonly laneOffsets?: number | undefined;
  /** Bytes from a dword of a lane to its next one, once prepared; absent where they always follow each other or the space has one way. */
  readonly rowBytes?: () => number;
}

/** Calls a function for each active lane, in order. */
export function forActiveLanes(w: Wave, f: (lane: number) => void): void {
  const low = w.sgprs[EXEC] as number;
  const high = w.sgprs[EXEC + 1] as number;
  for (let lane = 0; lane < LANES; lane++) {
    if (!maskBit(low, high, lane)) continue;
    w.lane = lane;
    f(lane);
  }
}

const nothing = (): void => {};

function bindFlat(instruction: Instruction, space: 'flat' | 'global'): Target {
  const offset = immediateOf(instruction, 'offset');
  const vaddr = registerOf(instruction, 'vaddr');
  const base = vectorBase(vaddr);
  const saddr = operandNamed(instruction, 'saddr');
  const chosen = space === 'flat' ? flatSpace : globalSpace;
  if (saddr?.kind === 'reg') {
    const s = saddr.encoding;
    return {
      space: chosen,
      prepare: nothing,
      address: (w, lane, more) => w.address(s) + ((w.vgprs[base + lane] as number) >>> 0) + offset + more,
      addresses: (w, _span, out) => {
        const { vgprs } = w;
        const start = w.address(s) + offset;
        for (let lane = 0; lane < LANES; lane++) out[lane] = start + ((vgprs[base + lane] as number) >>> 0);
        return true;
      },
      laneOffsets: base,
    };
  }
  return {
    space: chosen,
    prepare: nothing,
    address: (w, lane, more) =>
      ((w.vgprs[base + LANES + lane] as number) >>> 0) * 4294967296 +
      ((w.vgprs[base + lane] as number) >>> 0) +
      offset +
      more,
    addresses: (w, _span, out) => {
      const { vgprs } = w;
      for (let lane = 0; lane < LANES; lane++) {
        const high = (vgprs[base + LANES + lane] as number) >>> 0;
        out[lane] = high * 4294967296 + ((vgprs[base + lane] as number) >>> 0) + offset;
      }
      return true;
    },
  };
}

function bindScratch(instruction: Instruction): Target {
  const offset = immediateOf(instruction, 'offset');
  const vaddr = operandNamed(instruction, 'vaddr');
  const base = vaddr?.kind === 'reg' ? vectorBase(vaddr) : -1;
  const saddr = operandNamed(instruction, 'saddr');
  const s = saddr?.kind === 'reg' ? saddr.encoding : -1;
  return {
    space: scratchSpace,
    prepare: nothing,
    address: (w, lane, more) => {
      const v = base < 0 ? 0 : (w.vgprs[base + lane] as number);
      const scalar = s < 0 ? 0 : (w.sgprs[s] as number);
      return ((v + scalar + offset) >>> 0) + more;
    },
  };
}

function bindLds(instruction: Instruction): Target {
  const offset = immediateOf(instruction, 'offset');
  const base = vectorBase(registerOf(instruction, 'addr'));
  return {
    space: ldsSpace,
    prepare: nothing,
    // The sum wraps at 32 bits: compilers fold a positive offset onto a negative base.
    address: (w, lane, more) => ((w.vgprs[base + lane] as number) + offset + more) >>> 0,
    addresses: (w, _span, out) => {
      const { vgprs } = w;
      for (let lane = 0; lane < LANES; lane++) out[lane] = ((vgprs[base + lane] as number) + offset) >>> 0;
      return true;
    },
    laneOffsets: base,
  };
}

/** MUBUF addressing: the row's template says which of index and offset come from VGPRs. */
export function bindBuffer(instruction: Instruction): Target & { readonly resource: () => BufferResource } {
  const { template } = instruction.row;
  const idxen = / idxen/.test(template);
  const offen = / offen/.test(template);
  const vaddr = operandNamed(instruction, 'vaddr');
  const base = vaddr?.kind === 'reg' ? vectorBase(vaddr) : 0;
  const offsetBase = base + (idxen ? LANES : 0);
  const descriptor = registerOf(instruction, 'srsrc').encoding;
  const readSoffset = bindScalarWord(requireOperand(instruction, 'soffset'), 'i32');
  const offset = immediateOf(instruction, 'offset');
  let resource: BufferResource | undefined;
  let soffset = 0;
  const current = (): BufferResource => resource as BufferResource;
  return {
    space: bufferSpace(current),
    resource: current,
    prepare: (w) => {
      resource = readResource(w, descriptor);
      soffset = readSoffset(w, 0) >>> 0;
    },
    address: (w, lane, more, bytes) => {
      const vindex = idxen ? (w.vgprs[base + lane] as number) >>> 0 : undefined;
      const voffset = offen ? (w.vgprs[offsetBase + lane] as number) >>> 0 : 0;
      return bufferAddress(current(), lane, vindex, voffset + offset + more, soffset, bytes);
    },
    addresses: (w, span, out) => {
      const r = current();
      if (r.swizzle || idxen || r.addThreadId) return false;
      const { vgprs } = w;
      const start = r.base + soffset;
      // In bounds when bufferOffset + bytes <= records - soffset, for the last byte.
      const last = r.records - soffset - span;
      for (let lane = 0; lane < LANES; lane++) {
        const more = (offen ? (vgprs[offsetBase + lane] as number) >>> 0 : 0) + offset;
        out[lane] = more > last ? -1 : start + more;
      }
      return true;
    },
    laneOffsets: offen && !idxen ? offsetBase : undefined,
    rowBytes: () => (current().swizzle ? 4 * current().indexStride : 0),
  };
}

/** Addressing of a vector memory instruction. */
export function bindTarget(instruction: Instruction, space: MemorySpace): Target {
  switch (space) {
    case 'flat':
    case 'global':
      return bindFlat(instruction, space);
    case 'scratch':
      return bindScratch(instruction);
    case 'lds':
      return bindLds(instruction);
    case 'buffer':
      return bindBuffer(instruction);
    default:
      throw new Error(`no vector memory space ${space}`);
  }
}

/** The register a load writes or a store reads. */
function dataRegister(instruction: Instruction, ...names: string[]): Register {
  for (const name of names) {
    const operand = operandNamed(instruction, name);
    if (operand?.kind === 'reg') return operand;
  }
  throw new Error(`${instruction.row.name} has no data register`);
}

function extend(raw: number, bytes: number, signed: boolean): number {
  if (bytes >= 4 || !signed) return raw;
  return bytes === 1 ? (raw << 24) >> 24 : (raw << 16) >> 16;
}

/** Binds a load. */
export function bindLoad(instruction: Instruction, op: LoadOperation): Step {
  if (op.space === 'scalar' || op.space === 'scalarBuffer' || op.space === 'scalarScratch')
    return bindScalarLoad(instruction, op);
  const target = bindTarget(instruction, op.space);
  if (op.toLds || / lds$/.test(instruction.row.template)) return bindLdsDirect(instruction, op, target);
  const destination = vectorBase(dataRegister(instruction, 'vdst', 'vdata'));
  if (op.pairStride !== undefined) return bindPairLoad(instruction, op, target, destination);
  const { space, address, prepare } = target;
  const { bytes, signed, half } = op;
  if (bytes < 4) {
    return (w) => {
      prepare(w);
      forActiveLanes(w, (lane) => {
        const a = address(w, lane, 0, bytes);
        const value = a < 0 ? 0 : extend(space.load(w, a, bytes), bytes, signed);
        const at = destination + lane;
        // SRAM-ECC registers are written whole: the half a D16 load does not fill becomes zero.
        if (half === 'low') w.vgprs[at] = value & 0xffff;
        else w.vgprs[at] = half === 'high' ? value << 16 : value;
      });
    };
  }
  const words = bytes / 4;
  const values = new Int32Array(words);
  return (w) => {
    prepare(w);
    forActiveLanes(w, (lane) => {
      // The destination may overlap the address registers, so all words are read first.
      for (let n = 0; n < words; n++) {
        const a = address(w, lane, 4 * n, 4);
        values[n] = a < 0 ? 0 : space.load(w, a, 4);
      }
      for (let n = 0; n < words; n++) w.vgprs[destination + n * LANES + lane] = values[n] as number;
    });
  };
}

/** DS read2: two elements at offset0 and offset1, in units of the stride. */
export function pairOffsets(instruction: Instruction, stride: number): [number, number] {
  return [immediateOf(instruction, 'offset0') * stride, immediateOf(instruction, 'offset1') * stride];
}

function bindPairLoad(instruction: Instruction, op: LoadOperation, target: Target, destination: number): Step {
  const offsets = pairOffsets(instruction, op.pairStride as number);
  const words = op.bytes / 4;
  const values = new Int32Array(2 * words);
  const { space, address } = target;
  return (w) =>
    forActiveLanes(w, (lane) => {
      for (let n = 0; n < 2 * words; n++) {
        const offset = (offsets[n < words ? 0 : 1] as number) + 4 * (n % words);
        values[n] = space.load(w, address(w, lane, offset, 4), 4);
      }
      for (let n = 0; n < values.length; n++) w.vgprs[destination + n * LANES + lane] = values[n] as number;
    });
}

/** Loads into LDS: lane l's element goes to M0 + instruction offset + l × its size (at least a dword). */
function bindLdsDirect(instruction: Instruction, op: LoadOperation, target: Target): Step {
  const offset = immediateOf(instruction, 'offset');
  const { space, address, prepare } = target;
  const { bytes, signed } = op;
  const step = Math.max(4, bytes);
  return (w) => {
    prepare(w);
    const start = ((w.sgprs[M0] as number) >>> 0) + offset;
    forActiveLanes(w, (lane) => {
      const to = start + lane * step;
      if (bytes < 4) {
        const a = address(w, lane, 0, bytes);
        ldsSpace.store(w, to, 4, a < 0 ? 0 : extend(space.load(w, a, bytes), bytes, signed));
        return;
      }
      for (let n = 0; n < bytes; n += 4) {
        const a = address(w, lane, n, 4);
        ldsSpace.store(w, to + n, 4, a < 0 ? 0 : space.load(w, a, 4));
      }
    });
  };
}

/** Binds a store. */
export function bindStore(instruction: Instruction, op: StoreOperation): Step {
  if (op.space === 'scalar' || op.space === 'scalarBuffer' || op.space === 'scalarScratch')
    return bindScalarStore(instruction, op);
  const target = bindTarget(instruction, op.space);
  const { space, address, prepare } = target;
  const source = vectorBase(dataRegister(instruction, 'vdata', 'data0'));
  const { bytes } = op;
  if (op.pairStride !== undefined) {
    const offsets = pairOffsets(instruction, op.pairStride);
    const second = vectorBase(registerOf(instruction, 'data1'));
    return (w) =>
      forActiveLanes(w, (lane) => {
        [source, second].forEach((base, which) => {
          for (let n = 0; n < bytes / 4; n++) {
            const a = address(w, lane, (offsets[which] as number) + 4 * n, 4);
            space.store(w, a, 4, w.vgprs[base + n * LANES + lane] as number);
          }
        });
      });
  }
  const shift = op.half === 'high' ? 16 : 0;
  const piece = Math.min(4, bytes);
  return (w) => {
    prepare(w);
    forActiveLanes(w, (lane) => {
      for (let n = 0; 4 * n < bytes; n++) {
        const a = address(w, lane, 4 * n, piece);
        if (a >= 0) space.store(w, a, piece, (w.vgprs[source + n * LANES + lane] as number) >> shift);
      }
    });
  };
}

// Scalar memory -----------------------------------------------------------------------------------------------------------------

type ScalarAddress = (w: Wave, offset: number) => number;

/** Address of byte `offset` of a scalar access, or -1 when a buffer access is out of range. */
export function bindScalarAddress(instruction: Instruction, space: MemorySpace): ScalarAddress {
  const base = registerOf(instruction, 'sbase').encoding;
  const immediate = immediateOf(instruction, 'offset');
  const soffset = operandNamed(instruction, 'soffset');
  const scalar = soffset === undefined ? undefined : bindScalarWord(soffset, 'i32');
  const scale = space === 'scalarScratch' ? LANES : 1;
  return (w, more) => {
    const offset = immediate + (scalar === undefined ? 0 : (scalar(w, 0) >>> 0) * scale);
    if (space === 'scalarBuffer') {
      const r = readResource(w, base);
      const limit = r.stride === 0 ? r.records : r.records * r.stride;
      const at = Math.floor(offset / 4) * 4 + more;
      return at >= 0 && at + 4 <= limit ? r.base + at : -1;
    }
    return Math.floor((w.address(base) + offset) / 4) * 4 + more;
  };
}

function bindScalarLoad(instruction: Instruction, op: LoadOperation): Step {
  const address = bindScalarAddress(instruction, op.space);
  const destination = registerOf(instruction, 'sdst').encoding;
  const words = op.bytes / 4;
  const values = new Int32Array(words);
  return (w) => {
    for (let n = 0; n < words; n++) {
      const a = address(w, 4 * n);
      values[n] = a < 0 ? 0 : loadGlobal(w.memory, a, 4);
    }
    // `null` discards; a tuple that would run past EXEC is cut off.
    for (let n = 0; n < words && destination !== NULL && destination + n < 128; n++) {
      w.sgprs[destination + n] = values[n] as number;
    }
  };
}

function bindScalarStore(instruction: Instruction, op: StoreOperation): Step {
  const address = bindScalarAddress(instruction, op.space);
  const source = registerOf(instruction, 'sdata').encoding;
  return (w) => {
    for (let n = 0; 4 * n < op.bytes; n++) {
      const a = address(w, 4 * n);
      if (a >= 0) storeGlobal(w.memory, a, 4, w.sgprs[source + n] as number);
    }
  };
}

// Atomics -----------------------------------------------------------------------------------------------------------------------

/** 32-bit words of an atomic's value. */
export const ATOMIC_WORDS: Record<AtomicOperation['type'], number> = {
  i32: 1,
  i64: 2,
  f32: 1,
  f64: 2,
  f16x2: 1,
  bf16x2: 1,
};

/** The words of a vector atomic: those of memory before, and what its update makes of them. The arrays are reused. */
interface AtomicWords {
  readonly words: number;
  readonly old: Int32Array;
  /** `which` of a pair; `a` is negative where a buffer's bounds drop it. */
  readonly next: (w: Wave, lane: number, which: number, a: number) => Int32Array;
}

function bindAtomicWords(instruction: Instruction, op: AtomicOperation, space: Space): AtomicWords {
  const update = bindAtomicUpdate(op);
  const words = ATOMIC_WORDS[op.type];
  const data = vectorBase(dataRegister(instruction, 'vdata_in', 'data0', 'vdata'));
  const second =
    op.data === 'one'
      ? -1
      : op.data === 'newThenCompare'
        ? data + words * LANES
        : vectorBase(registerOf(instruction, 'data1'));
  const paired = op.pairStride !== undefined;
  const old = new Int32Array(2);
  const first = new Int32Array(2);
  const other = new Int32Array(2);
  const next: AtomicWords['next'] = (w, lane, which, a) => {
    for (let n = 0; n < words; n++) {
      old[n] = a < 0 ? 0 : space.load(w, a + 4 * n, 4);
      first[n] = w.vgprs[(paired && which === 1 ? second : data) + n * LANES + lane] as number;
      other[n] = second < 0 ? 0 : (w.vgprs[second + n * LANES + lane] as number);
    }
    return op.data === 'compareThenNew' ? update(w, old, other, first) : update(w, old, first, other);
  };
  return { words, old, next };
}

/** Whether a vector atomic of one value leaves the bytes at an address as they are: a comparison that fails, a lock that is taken already. */
export function bindLeavesMemory(
  instruction: Instruction,
  op: AtomicOperation,
): (w: Wave, lane: number, address: number) => boolean {
  const { words, old, next } = bindAtomicWords(instruction, op, bindTarget(instruction, op.space).space);
  return (w, lane, address) => {
    const made = next(w, lane, 0, address);
    return old[0] === made[0] && (words === 1 || old[1] === made[1]);
  };
}

/** Binds an atomic of any space. */
export function bindAtomic(instruction: Instruction, op: AtomicOperation): Step {
  if (op.space === 'scalar' || op.space === 'scalarBuffer')
    return bindScalarAtomic(instruction, op, ATOMIC_WORDS[op.type]);
  const { space, address, prepare } = bindTarget(instruction, op.space);
  const { words, old, next: compute } = bindAtomicWords(instruction, op, space);
  const { row } = instruction;
  const returned = row.operands.findIndex((o) => o.isOut);
  const output = returned < 0 ? undefined : (instruction.operands[returned] as Register);
  const destination = output === undefined ? -1 : vectorBase(output);
  const offsets = op.pairStride === undefined ? [0] : pairOffsets(instruction, op.pairStride);
  return (w) => {
    prepare(w);
    forActiveLanes(w, (lane) => {
      offsets.forEach((offset, which) => {
        const a = address(w, lane, offset, 4 * words);
        let next: Int32Array;
        do next = compute(w, lane, which, a);
        while (a >= 0 && !space.replace(w, a, words, old, next));
        for (let n = 0; n < words; n++) {
          if (destination >= 0) w.vgprs[destination + (which * words + n) * LANES + lane] = old[n] as number;
        }
      });
    });
  };
}

function bindScalarAtomic(instruction: Instruction, op: AtomicOperation, words: number): Step {
  const update = bindAtomicUpdate(op);
  const address = bindScalarAddress(instruction, op.space);
  const data = registerOf(instruction, 'sdata').encoding;
  const returns = operandNamed(instruction, 'sdst') !== undefined;
  const old = new Int32Array(2);
  const first = new Int32Array(2);
  const other = new Int32Array(2);
  return (w) => {
    const a = address(w, 0);
    let next: Int32Array;
    do {
      for (let n = 0; n < words; n++) {
        old[n] = a < 0 ? 0 : loadGlobal(w.memory, a + 4 * n, 4);
        first[n] = w.sgprs[data + n] as number;
        other[n] = w.sgprs[data + words + n] as number;
      }
      next = update(w, old, first, other);
    } while (a >= 0 && !replaceGlobal(w.memory, a, words, old, next));
    for (let n = 0; n < words; n++) {
      if (returns) w.sgprs[data + n] = old[n] as number;
    }
  };
}
