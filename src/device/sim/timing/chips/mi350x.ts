// AMD Instinct MI350X (gfx950): 8 XCDs of 32 compute units, 160 KB of LDS with 64 banks for wide reads.
import type { ChipFile } from '../chip.ts';
import { MI300X } from './mi300x.ts';

const SPECS = 'ROCm documentation, accelerator and GPU hardware specifications';

export const MI350X: ChipFile = {
  name: 'mi350x',
  product: 'AMD Instinct MI350X',
  target: 'gfx950',
  validation: 'thread traces of two small kernels',
  numbers: {
    ...MI300X.numbers,
    cusPerXcc: [32, SPECS],
    clockMhz: [2200, SPECS],
    'matrix.f64Passes': [16, 'LLVM 22 SISchedule.td'],
    'lds.latency': [69, 'gfx950: LDS latency of gpu-benches'],
    'lds.wideBanks': [64, 'rocRoller LDSBankModel: 64 banks for 8- and 16-byte reads of gfx950'],
    'lds.rate': [128, 'CDNA4: 256 B a cycle and compute unit for wide reads'],
    'hbm.readGbps': [6500, 'rocprofiler-compute on MI350: 4.9 TB/s copied of 8.0 TB/s; in proportion to MI300X'],
    'hbm.writeGbps': [4200, 'rocprofiler-compute on MI350: 4.9 TB/s copied of 8.0 TB/s; in proportion to MI300X'],
  },
};
