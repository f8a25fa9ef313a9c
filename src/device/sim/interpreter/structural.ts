// Executes what is not an expression: control flow through registers, hardware registers, cross-lane moves, LDS permutes.
// Sources: AMD CDNA3/CDNA4 ISA, chapters "SOPP", "SOPK", "VOP1", "Data Share"; LLVM AMDGPUUsage (hwreg ids, sendmsg, traps).
import { hasOperand, immediateOf, requireOperand } from '../../../isa/operand.ts';
import type { StructuralOperation } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { EXEC, LANES, M0, maskBit, type Wave } from '../state/wave.ts';
import { KernelStop } from './kernel-stop.ts';
import { bindScalarWord, bindWord, registerOf, vectorBase } from './operands.ts';
import { ldsSpace } from './spaces.ts';
import { swizzleLane } from './swizzle.ts';
import type { Step } from './vector.ts';

type Binder = (instruction: Instruction, op: StructuralOperation) => Step;

const nothing: Binder = () => () => {};

function setPc(w: Wave, value: bigint): void {
  w.pc = Number(value & ~3n);
}

/** Parameter of s_memrealtime. */
const REAL_TIME = 1;
/** Ids of hardware registers (s_getreg, s_setreg). */
const HW_MODE = 1;
const HW_STATUS = 2;
const HW_GPR_ALLOC = 5;
const HW_LDS_ALLOC = 6;
const HW_SH_MEM_BASES = 15;
/** Registers that exist but read as zero on the sim: TRAPSTS, HW_ID, IB_STS, XCC_ID, SQ_SHADER_*. */
const HW_ZERO = new Set([3, 4, 7, 16, 17, 18, 19, 20]);

function readHardwareRegister(w: Wave, id: number): number {
  if (id === HW_MODE) return w.mode;
  if (id === HW_STATUS) {
    const execZero = ((w.sgprs[EXEC] as number) | (w.sgprs[EXEC + 1] as number)) === 0;
    return (w.scc ? 1 : 0) | (execZero ? 1 << 9 : 0) | (1 << 16);
  }
  if (id === HW_LDS_ALLOC) return (w.workgroup.lds.byteLength >> 9) << 12;
  if (id === HW_GPR_ALLOC) return 0;
  // Private base in the low half, shared base in the high half: the apertures' high words shifted by 16.
  if (id === HW_SH_MEM_BASES) return 2 | (1 << 16);
  if (HW_ZERO.has(id)) return 0;
  throw new KernelStop('sim/unsupported-register', `Hardware register ${id} is not modelled.`);
}

function hwregFields(instruction: Instruction): [number, number, number] {
  const value = immediateOf(instruction, 'simm16') & 0xffff;
  return [value & 63, (value >> 6) & 31, ((value >> 11) & 31) + 1];
}

const getreg: Binder = (instruction) => {
  const [id, offset, size] = hwregFields(instruction);
  const target = registerOf(instruction, 'sdst').encoding;
  return (w) => {
    const value = readHardwareRegister(w, id) >>> offset;
    w.sgprs[target] = size === 32 ? value : value & ((1 << size) - 1);
  };
};

const setreg: Binder = (instruction) => {
  const [id, offset, size] = hwregFields(instruction);
  const literal = hasOperand(instruction.row, 'imm');
  const read = bindScalarWord(requireOperand(instruction, literal ? 'imm' : 'sdst'), 'i32');
  const mask = (size === 32 ? -1 : (1 << size) - 1) << offset;
  return (w) => {
    const value = ((read(w, 0) << offset) & mask) | (readHardwareRegister(w, id) & ~mask);
    if (id === HW_MODE) w.setMode(value);
    // TRAPSTS and the like are accepted and have no effect: no exception is ever raised.
    else if (!HW_ZERO.has(id)) {
      throw new KernelStop('sim/unsupported-register', `Writing hardware register ${id} is not modelled.`);
    }
  };
};

/** Lowest active lane, or lane 0 when none is. */
function firstActive(w: Wave): number {
  const low = w.sgprs[EXEC] as number;
  const high = w.sgprs[EXEC + 1] as number;
  if (low !== 0) return 31 - Math.clz32(low & -low);
  return high === 0 ? 0 : 63 - Math.clz32(high & -high);
}

function forActive(w: Wave, f: (lane: number) => void): void {
  const low = w.sgprs[EXEC] as number;
  const high = w.sgprs[EXEC + 1] as number;
  for (let lane = 0; lane < LANES; lane++) {
    if (!maskBit(low, high, lane)) continue;
    w.lane = lane;
    f(lane);
  }
}

const swap: Binder = (instruction) => {
  const a = vectorBase(registerOf(instruction, 'vdst'));
  const b = vectorBase(registerOf(instruction, 'src0'));
  return (w) =>
    forActive(w, (lane) => {
      const value = w.vgprs[a + lane] as number;
      w.vgprs[a + lane] = w.vgprs[b + lane] as number;
      w.vgprs[b + lane] = value;
    });
};

/** Swaps the odd rows of vdst with the even rows of src0 (rows of 16 or 32 lanes). */
const permlaneSwap: Binder = (instruction, op) => {
  const d = vectorBase(registerOf(instruction, 'vdst'));
  const s = vectorBase(registerOf(instruction, 'src0'));
  const width = op.parameter;
  return (w) => {
    for (let lane = 0; lane < LANES; lane++) {
      if ((lane & width) !== 0) continue;
      const other = lane + width;
      const value = w.vgprs[s + lane] as number;
      if (w.isActive(lane)) w.vgprs[s + lane] = w.vgprs[d + other] as number;
      if (w.isActive(other)) w.vgprs[d + other] = value;
    }
  };
};

const permute: Binder = (instruction, op) => {
  const address = vectorBase(registerOf(instruction, 'addr'));
  const data = vectorBase(registerOf(instruction, 'data0'));
  const target = vectorBase(registerOf(instruction, 'vdst'));
  const offset = immediateOf(instruction, 'offset');
  const forward = op.name === 'permute';
  return (w) => {
    const moved = new Int32Array(LANES);
    for (let lane = 0; lane < LANES; lane++) {
      const other = (((w.vgprs[address + lane] as number) + offset) >>> 2) & 63;
      if (forward) {
        if (w.isActive(lane)) moved[other] = w.vgprs[data + lane] as number;
      } else if (w.isActive(other)) moved[lane] = w.vgprs[data + other] as number;
    }
    forActive(w, (lane) => {
      w.vgprs[target + lane] = moved[lane] as number;
    });
  };
};

const swizzle: Binder = (instruction) => {
  const source = vectorBase(registerOf(instruction, 'addr'));
  const target = vectorBase(registerOf(instruction, 'vdst'));
  const offset = immediateOf(instruction, 'offset');
  return (w) => {
    const moved = new Int32Array(LANES);
    for (let lane = 0; lane < LANES; lane++) {
      const from = swizzleLane(offset, lane);
      moved[lane] = from >= 0 && w.isActive(from) ? (w.vgprs[source + from] as number) : 0;
    }
    forActive(w, (lane) => {
      w.vgprs[target + lane] = moved[lane] as number;
    });
  };
};

/** ds_append / ds_consume: one counter at M0, moved by the number of active lanes. */
const append: Binder = (instruction, op) => {
  const target = vectorBase(registerOf(instruction, 'vdst'));
  const offset = immediateOf(instruction, 'offset');
  return (w) => {
    let count = 0;
    forActive(w, () => count++);
    const at = ((w.sgprs[M0] as number) & 0xffff) + offset;
    const old = ldsSpace.load(w, at, 4);
    ldsSpace.store(w, at, 4, old + op.parameter * count);
    forActive(w, (lane) => {
      w.vgprs[target + lane] = old;
    });
  };
};

const addtid: Binder = (instruction, op) => {
  const register = vectorBase(registerOf(instruction, op.direction === 'load' ? 'vdst' : 'data0'));
  const offset = immediateOf(instruction, 'offset');
  return (w) => {
    const start = ((w.sgprs[M0] as number) & 0xffff) + offset;
    forActive(w, (lane) => {
      if (op.direction === 'load') w.vgprs[register + lane] = ldsSpace.load(w, start + 4 * lane, 4);
      else ldsSpace.store(w, start + 4 * lane, 4, w.vgprs[register + lane] as number);
    });
  };
};

const condxchg: Binder = (instruction) => {
  const address = vectorBase(registerOf(instruction, 'addr'));
  const data = vectorBase(registerOf(instruction, 'data0'));
  const target = vectorBase(registerOf(instruction, 'vdst'));
  const offset = immediateOf(instruction, 'offset');
  return (w) =>
    forActive(w, (lane) => {
      const at = ((w.vgprs[address + lane] as number) + offset) & 0xfff8;
      for (let n = 0; n < 2; n++) {
        const old = ldsSpace.load(w, at + 4 * n, 4);
        const value = w.vgprs[data + n * LANES + lane] as number;
        if (value < 0) ldsSpace.store(w, at + 4 * n, 4, value & 0x7fffffff);
        w.vgprs[target + n * LANES + lane] = old;
      }
    });
};

/**
 * Transposing LDS reads of gfx950: 16 lanes form a block; every lane loads a row of `64/bits` (b6: 16) elements, and lane l ends with
 * element column of the block's rows. For b16, lane l of a block gets element l mod 4 … of rows 4·(l div 4)….
 */
const readTransposed: Binder = (instruction, op) => {
  const address = vectorBase(registerOf(instruction, 'addr'));
  const target = vectorBase(registerOf(instruction, 'vdst'));
  const offset = immediateOf(instruction, 'offset');
  const bits = op.parameter;
  const words = bits === 6 ? 3 : 2;
  const perLane = bits === 6 ? 16 : 64 / bits;
  return (w) => {
    const rows = Array.from({ length: LANES }, () => 0n);
    forActive(w, (lane) => {
      const at = ((w.vgprs[address + lane] as number) + offset) >>> 0;
      let value = 0n;
      for (let n = 0; n < words; n++) value |= BigInt(ldsSpace.load(w, at + 4 * n, 4) >>> 0) << BigInt(32 * n);
      rows[lane] = value;
    });
    const mask = (1n << BigInt(bits)) - 1n;
    forActive(w, (lane) => {
      const block = lane & ~15;
      const position = lane & 15;
      let value = 0n;
      for (let n = 0; n < perLane; n++) {
        // The block is a 16 × perLane matrix read row by row; its transpose is handed out in the same order.
        const element = position + 16 * n;
        const row = block + Math.floor(element / perLane);
        const column = element % perLane;
        value |= (((rows[row] as bigint) >> BigInt(column * bits)) & mask) << BigInt(n * bits);
      }
      for (let n = 0; n < words; n++) {
        w.vgprs[target + n * LANES + lane] = Number(BigInt.asIntN(32, value >> BigInt(32 * n)));
      }
    });
  };
};

const BINDERS: Record<StructuralOperation['name'], Binder> = {
  nop: nothing,
  waitcnt: nothing,
  cacheControl: nothing,
  sleep: nothing,
  sendmsg: (_i, op) => (w) => {
    if (op.parameter === 1) w.state = 'ended';
  },
  endpgm: () => (w) => {
    w.state = 'ended';
  },
  barrier: () => (w) => {
    w.state = 'barrier';
  },
  gridBarrier: () => (w) => {
    w.state = 'grid barrier';
  },
  sethalt: (instruction) => {
    const halts = (immediateOf(instruction, 'simm16') & 1) !== 0;
    return () => {
      if (halts) throw new KernelStop('sim/halted', 'The wavefront halted itself with s_sethalt.');
    };
  },
  trap: (instruction) => {
    const id = immediateOf(instruction, 'simm16') & 0xff;
    // llvm.debugtrap: without a debugger the trap handler returns at once.
    if (id === 3) return () => {};
    return () => {
      const why = id === 2 ? ' (llvm.trap: a failed assertion or unreachable code)' : '';
      throw new KernelStop('sim/trap', `The kernel executed s_trap ${id}${why}.`);
    };
  },
  getpc: (instruction) => {
    const target = registerOf(instruction, 'sdst').encoding;
    return (w) => w.setS64(target, BigInt(w.pc));
  },
  setpc: (instruction) => {
    const source = registerOf(instruction, 'src0').encoding;
    return (w) => setPc(w, w.s64(source));
  },
  swappc: (instruction) => {
    const target = registerOf(instruction, 'sdst').encoding;
    const source = registerOf(instruction, 'src0').encoding;
    return (w) => {
      const to = w.s64(source);
      w.setS64(target, BigInt(w.pc));
      setPc(w, to);
    };
  },
  call: (instruction) => {
    const target = registerOf(instruction, 'sdst').encoding;
    const offset = ((immediateOf(instruction, 'simm16') << 16) >> 16) * 4;
    return (w) => {
      w.setS64(target, BigInt(w.pc));
      w.pc += offset;
    };
  },
  getreg,
  setreg,
  memtime: (instruction, op) => {
    const target = registerOf(instruction, 'sdst').encoding;
    if (op.parameter === REAL_TIME)
      return (w) => w.setS64(target, BigInt(w.workgroup.realTime(w.index, w.executed + w.running)));
    return (w) => w.setS64(target, BigInt(w.workgroup.cycles(w.index, w.executed + w.running)));
  },
  movrels: (instruction, op) => {
    const target = registerOf(instruction, 'sdst').encoding;
    const source = registerOf(instruction, 'src0').encoding;
    return (w) => {
      const from = movrelIndex(w, source);
      for (let n = 0; n < op.parameter; n++) w.sgprs[target + n] = w.sgprs[from + n] as number;
    };
  },
  movreld: (instruction, op) => {
    const target = registerOf(instruction, 'sdst').encoding;
    const read = bindScalarWord(requireOperand(instruction, 'src0'), op.parameter === 2 ? 'i64' : 'i32');
    return (w) => {
      const to = movrelIndex(w, target);
      for (let n = 0; n < op.parameter; n++) w.sgprs[to + n] = read(w, n);
    };
  },
  setGprIndexOn: (instruction) => {
    const read = bindScalarWord(requireOperand(instruction, 'src0'), 'i32');
    const flags = immediateOf(instruction, 'src1') & 15;
    return (w) => {
      w.gprIndexing = true;
      w.sgprs[M0] = ((w.sgprs[M0] as number) & ~0xf0ff) | (read(w, 0) & 0xff) | (flags << 12);
    };
  },
  setGprIndexOff: () => (w) => {
    w.gprIndexing = false;
  },
  setGprIndexMode: (instruction) => {
    const flags = immediateOf(instruction, 'simm16') & 15;
    return (w) => {
      w.sgprs[M0] = ((w.sgprs[M0] as number) & ~0xf000) | (flags << 12);
    };
  },
  setGprIndex: (instruction) => {
    const read = bindScalarWord(requireOperand(instruction, 'src0'), 'i32');
    return (w) => {
      w.sgprs[M0] = ((w.sgprs[M0] as number) & ~0xff) | (read(w, 0) & 0xff);
    };
  },
  setVskip: (instruction) => {
    const read = bindScalarWord(requireOperand(instruction, 'src0'), 'i32');
    const bit = bindScalarWord(requireOperand(instruction, 'src1'), 'i32');
    return (w) => {
      w.vskip = ((read(w, 0) >>> (bit(w, 0) & 31)) & 1) !== 0;
    };
  },
  readfirstlane: (instruction) => {
    const read = bindWord(requireOperand(instruction, 'src0'), 'i32');
    const target = registerOf(instruction, 'vdst').encoding;
    return (w) => {
      w.sgprs[target] = read(w, firstActive(w), 0);
    };
  },
  readlane: (instruction) => {
    const read = bindWord(requireOperand(instruction, 'src0'), 'i32');
    const lane = bindScalarWord(requireOperand(instruction, 'src1'), 'i32');
    const target = registerOf(instruction, 'vdst').encoding;
    return (w) => {
      w.sgprs[target] = read(w, lane(w, 0) & 63, 0);
    };
  },
  writelane: (instruction) => {
    const read = bindScalarWord(requireOperand(instruction, 'src0'), 'i32');
    const lane = bindScalarWord(requireOperand(instruction, 'src1'), 'i32');
    const target = vectorBase(registerOf(instruction, 'vdst'));
    return (w) => {
      w.vgprs[target + (lane(w, 0) & 63)] = read(w, 0);
    };
  },
  swap,
  permlaneSwap,
  permute,
  bpermute: permute,
  swizzle,
  append,
  readTransposed,
  addtid,
  condxchg,
  matrixLoadScale: () => () => {
    throw new KernelStop(
      'sim/unsupported-instruction',
      'The scale of the next matrix instruction cannot be loaded separately; assemblers emit it as part of v_mfma_scale.',
    );
  },
};

function movrelIndex(w: Wave, register: number): number {
  const index = register + (w.sgprs[M0] as number);
  if (!(index >= 0 && index < 102)) {
    throw new KernelStop('sim/register-range', `M0 moves the scalar register index to ${index}, outside s0–s101.`);
  }
  return index;
}

/** Binds a structural operation. */
export function bindStructural(instruction: Instruction, op: StructuralOperation): Step {
  return BINDERS[op.name](instruction, op);
}
