// Latency classes of CDNA3. Rates: AMD CDNA3 ISA manual and LLVM 22's SISchedule.td (its units are 4 cycles).
import type { ChipNumbers } from '../chip.ts';

const RATE = 'LLVM 22 SISchedule.td, in units of 4 cycles';

export const CDNA3_CLASSES: ChipNumbers = {
  'class.valu32.issue': [4, 'CDNA3 ISA: a wave of 64 lanes on 16'],
  'class.valu32.latency': [4, 'gfx950 thread traces: VALU back to back 4 cycles'],
  'class.packed32.issue': [4, 'AMD CDNA 3 white paper: 256 FP32 FLOP a cycle and compute unit'],
  'class.packed32.latency': [8, 'MI300X FMA chains'],
  'class.valu64.issue': [4, RATE],
  'class.valu64.latency': [8, RATE],
  'class.valuF64.issue': [4, 'AMD CDNA 3 white paper: 128 FP64 FLOP a cycle and compute unit'],
  'class.valuF64.latency': [8, RATE],
  'class.valuF64Fma.issue': [4, 'AMD CDNA 3 white paper: 128 FP64 FLOP a cycle and compute unit'],
  'class.valuF64Fma.latency': [8, RATE],
  'class.trans32.issue': [16, `${RATE}: 4`],
  'class.trans32.latency': [16, `${RATE}: 4`],
  'class.trans64.issue': [16, `${RATE}: 4`],
  'class.trans64.latency': [16, `${RATE}: 4`],
  'class.convert.issue': [4, 'CDNA3 ISA: a wave of 64 lanes on 16'],
  'class.convert.latency': [4, RATE],
  'class.convert64.issue': [4, RATE],
  'class.convert64.latency': [8, RATE],
  'class.mul32.issue': [16, `${RATE}: quarter rate`],
  'class.mul32.latency': [16, `${RATE}: quarter rate`],
  'class.readlane.issue': [4, RATE],
  'class.readlane.latency': [8, RATE],
  'class.salu.issue': [4, RATE],
  'class.salu.latency': [4, RATE],
  'class.branch.issue': [4, RATE],
  'class.branch.latency': [8, RATE],
};
