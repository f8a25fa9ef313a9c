// AMD Instinct MI300A (gfx942): 6 XCDs of 38 compute units, memory shared with the processor.
import type { ChipFile } from '../chip.ts';
import { MI300X } from './mi300x.ts';

const WHITE_PAPER = 'AMD CDNA 3 white paper';
const MEMCOPY = 'MI300A memcopy (sarchlab/mgpusim mi300a.csv)';

export const MI300A: ChipFile = {
  name: 'mi300a',
  product: 'AMD Instinct MI300A',
  target: 'gfx942',
  validation: '13 HIP programs, 265 points (docs/timing-accuracy.md)',
  numbers: {
    ...MI300X.numbers,
    xccs: [6, WHITE_PAPER],
    'mall.readGbps': [2950, 'MI300A vectoradd, 4 to 16 M elements: 2.9 TB/s read while 1.4 TB/s are written'],
    'mall.writeGbps': [2130, `${MEMCOPY}: device to device, 2.14 TB/s each way at 64 MB`],
    'hbm.readGbps': [4030, 'MI300A vectoradd, 134 M elements: 3.3 TB/s at two reads a write'],
    'hbm.writeGbps': [2450, 'MI300A vectoradd and memcopy at 512 MB: 3.0 TB/s at one read a write'],
    'mall.latency': [580, 'MI300A atax: the second kernel takes 650 cycles a turn when its matrix is not in L2'],
    'hbm.latency': [890, 'MI300X pointer chase: 230 to 310 cycles more than the memory-side cache'],
    'launch.eventUs': [
      3.7,
      'MI300A vectoradd: 4.2 µs between the events of the smallest kernels, of which they run 0.5',
    ],
    'copy.pinnedUs': [10, `${MEMCOPY}: host to device from 2 MB on`],
    'copy.pinnedGbps': [57.8, `${MEMCOPY}: host to device, slope from 2 to 512 MB`],
    'copy.stagedUs': [25, 'MI300A fastwalshtransform of 2 KB: 27 µs beside its launches'],
    'copy.stagedGbps': [8, `${MEMCOPY}: host to device, 1 MB: 69 and 153 µs in two runs`],
    'launch.gapUs': [1.5, 'MI300A bitonicsort: 2.5 µs for each launch of a kernel that runs about 1'],
  },
};
