// Written by `npm run bench timing -- --write`. Do not edit.
import type { ChipNumbers } from '../chip.ts';

const FIT =
  'fitted to atax, bitonicsort, matrixmultiplication, memcopy, spmv, vectoradd on MI300A (docs/timing-accuracy.md)';

export const MI300A_FITTED: ChipNumbers = {
  'launch.eventUs': [3.649, `${FIT}; before: 5.6, MI300X microbenchmarks, floor`],
  'launch.gapUs': [1.816, `${FIT}; before: 2, no measurement`],
  'fill.us': [1.538, `${FIT}; before: 2, no measurement`],
  'copy.pinnedUs': [11.61, `${FIT}; before: 10, no measurement`],
  'copy.pinnedGbps': [56.98, `${FIT}; before: 55, PCIe 5: 64 GB/s less 10 to 20% of protocol`],
  'copy.stagedUs': [9.175, `${FIT}; before: 10, no measurement`],
  'copy.stagedGbps': [16.07, `${FIT}; before: 10, one host core copies about so much`],
  'mall.readGbps': [2870, `${FIT}; before: 2475, MI300X copies, by 6 dies instead of 8`],
  'mall.writeGbps': [2092, `${FIT}; before: 1725, MI300X copies, by 6 dies instead of 8`],
  'hbm.readGbps': [3167, `${FIT}; before: 3525, MI300X copies, by 6 dies instead of 8`],
  'hbm.writeGbps': [2469, `${FIT}; before: 2475, MI300X copies, by 6 dies instead of 8`],
  'mall.latency': [553.3, `${FIT}; before: 480, MI300X pointer chase`],
  'hbm.latency': [1006, `${FIT}; before: 790, MI300X pointer chase`],
  'l2.latency': [254.7, `${FIT}; before: 245, gpu-benches and mt4g`],
  'vl1d.latency': [115.8, `${FIT}; before: 116, mt4g`],
  'vl1d.misses': [190, `${FIT}; before: 256, no measurement: the lines of the cache`],
  'l2.storeAck': [308.3, `${FIT}; before: 300, no measurement`],
  'l2.writeRate': [23.98, `${FIT}; before: 32, no measurement: half of what a channel reads`],
  'issue.branchTaken': [20.71, `${FIT}; before: 20, MI300X FMA chains: 16 to 24`],
  'mall.loss': [1.345, `${FIT}; before: 1, a part as large as fits`],
  'l2.loss': [4.349, `${FIT}; before: 4, no measurement: least-recently-used replacement keeps nothing`],
};
