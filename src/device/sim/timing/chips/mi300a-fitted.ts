// Written by `npm run bench timing -- --write`. Do not edit.
import type { ChipNumbers } from '../chip.ts';

const FIT =
  'fitted to atax, bitonicsort, matrixmultiplication, memcopy, spmv, vectoradd on MI300A (docs/timing-accuracy.md)';

export const MI300A_FITTED: ChipNumbers = {
  'launch.eventUs': [3.455, `${FIT}; before: 3.5, no measurement: less than the floor`],
  'launch.floorUs': [4.26, `${FIT}; before: 4.2, the least time between events that MI300A has shown`],
  'launch.gapUs': [1.303, `${FIT}; before: 0.9, no measurement`],
  'launch.hostUs': [2.395, `${FIT}; before: 2.4, MI300A: each further launch of a small kernel`],
  'fill.us': [2, `${FIT}; before: 2, no measurement`],
  'copy.pinnedUs': [11.14, `${FIT}; before: 10, no measurement`],
  'copy.pinnedGbps': [56.19, `${FIT}; before: 55, PCIe 5: 64 GB/s less 10 to 20% of protocol`],
  'copy.stagedUs': [13.4, `${FIT}; before: 15, no measurement`],
  'copy.stagedGbps': [16.21, `${FIT}; before: 10, one host core copies about so much`],
  'mall.readGbps': [2710, `${FIT}; before: 2475, MI300X copies, by 6 dies instead of 8`],
  'mall.writeGbps': [2082, `${FIT}; before: 1725, MI300X copies, by 6 dies instead of 8`],
  'hbm.readGbps': [2789, `${FIT}; before: 3525, MI300X copies, by 6 dies instead of 8`],
  'hbm.writeGbps': [2394, `${FIT}; before: 2475, MI300X copies, by 6 dies instead of 8`],
  'mall.latency': [701.4, `${FIT}; before: 480, MI300X pointer chase`],
  'hbm.latency': [985.4, `${FIT}; before: 720, MI300X pointer chase`],
  'l2.latency': [246.6, `${FIT}; before: 245, gpu-benches and mt4g`],
  'vl1d.latency': [114.5, `${FIT}; before: 116, mt4g`],
  'vl1d.misses': [206, `${FIT}; before: 256, no measurement: the lines of the cache`],
  'l2.storeAck': [271.6, `${FIT}; before: 300, no measurement`],
  'l2.foreignAck': [480, `${FIT}; before: 480, no measurement: the way to the memory-side cache`],
  'l2.writeRate': [19.09, `${FIT}; before: 32, no measurement: half of what a channel reads`],
  'l2.dirtyPart': [0.256, `${FIT}; before: 0.25, no measurement`],
  'issue.branchTaken': [21.49, `${FIT}; before: 20, MI300X FMA chains: 16 to 24`],
  'mall.loss': [1.108, `${FIT}; before: 1, a part as large as fits`],
  'l2.loss': [3.832, `${FIT}; before: 4, no measurement: least-recently-used replacement keeps nothing`],
};
