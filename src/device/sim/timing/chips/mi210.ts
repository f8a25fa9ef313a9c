// AMD Instinct MI210 (gfx90a): one die, no memory-side cache.
import type { ChipFile } from '../chip.ts';
import { MI300X } from './mi300x.ts';

const WHITE_PAPER = 'AMD CDNA 2 white paper';
const LATENCY = 'mt4g and gpu-benches latency tables of MI210';
const STARTED =
  'an Omniperf workload that AMD published: a fill starts 131,072 workgroups of four waves in 384,563 cycles, so no more than that';
const L2_READS =
  'AMD CDNA 2 white paper; rocprofiler-compute measures 5,018 GB/s on an MI200 GCD, where 64 bytes a cycle of 32 channels are 3,482; a copy of 8 MB reads L2 70,312 times (vcopy), once for two requests of 64 bytes';
const NONE = 'there is no memory-side cache: as fast as what is behind it';

export const MI210: ChipFile = {
  name: 'mi210',
  product: 'AMD Instinct MI210',
  target: 'gfx90a',
  validation: 'none',
  numbers: {
    ...MI300X.numbers,
    xccs: [1, WHITE_PAPER],
    cusPerXcc: [104, WHITE_PAPER],
    clockMhz: [1700, WHITE_PAPER],
    'dispatch.minimum': [2.93, STARTED],
    'dispatch.wave': [0.73, STARTED],
    'class.packed32.issue': [4, WHITE_PAPER],
    'lds.latency': [49, LATENCY],
    'vl1d.bytes': [16384, WHITE_PAPER],
    'vl1d.line': [64, WHITE_PAPER],
    'vl1d.ways': [64, 'CDNA2 cache: 4 sets of 64 lines'],
    'l1i.bytes': [32768, WHITE_PAPER],
    'l1i.line': [64, WHITE_PAPER],
    'l2.bytes': [8388608, WHITE_PAPER],
    'l2.channels': [32, WHITE_PAPER],
    'l2.channelRate': [128, L2_READS],
    'mall.bytes': [0, WHITE_PAPER],
    'mall.readGbps': [1638, NONE],
    'mall.writeGbps': [1638, NONE],
    'hbm.readGbps': [1400, 'rocprofiler-compute on an MI200 GCD: 1389 GB/s'],
    'hbm.writeGbps': [1250, 'rocprofiler-compute on an MI200 GCD: 1389 GB/s'],
  },
};
