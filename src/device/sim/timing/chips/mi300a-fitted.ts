// Written by `npm run bench timing -- --write`. Do not edit.
import type { ChipNumbers } from '../chip.ts';

const FIT =
  'fitted to atax, bitonicsort, matrixmultiplication, memcopy, spmv, vectoradd on MI300A (docs/timing-accuracy.md)';

export const MI300A_FITTED: ChipNumbers = {
  'launch.eventUs': [3.712, `${FIT}; before: 5.6, MI300X microbenchmarks, floor`],
  'launch.gapUs': [1.737, `${FIT}; before: 2, no measurement`],
  'fill.us': [1.181, `${FIT}; before: 2, no measurement`],
  'copy.pinnedUs': [11.04, `${FIT}; before: 10, no measurement`],
  'copy.pinnedGbps': [56.22, `${FIT}; before: 55, PCIe 5: 64 GB/s less 10 to 20% of protocol`],
  'copy.stagedUs': [8.927, `${FIT}; before: 10, no measurement`],
  'copy.stagedGbps': [16.11, `${FIT}; before: 10, one host core copies about so much`],
  'mall.readGbps': [2706, `${FIT}; before: 2475, MI300X copies, by 6 dies instead of 8`],
  'mall.writeGbps': [2113, `${FIT}; before: 1725, MI300X copies, by 6 dies instead of 8`],
  'hbm.readGbps': [3114, `${FIT}; before: 3525, MI300X copies, by 6 dies instead of 8`],
  'hbm.writeGbps': [2438, `${FIT}; before: 2475, MI300X copies, by 6 dies instead of 8`],
  'mall.latency': [681.2, `${FIT}; before: 480, MI300X pointer chase`],
  'hbm.latency': [1045, `${FIT}; before: 790, MI300X pointer chase`],
  'l2.latency': [253.9, `${FIT}; before: 245, gpu-benches and mt4g`],
  'vl1d.latency': [114.3, `${FIT}; before: 116, mt4g`],
  'vl1d.misses': [225, `${FIT}; before: 256, no measurement: the lines of the cache`],
  'l2.storeAck': [325.7, `${FIT}; before: 300, no measurement`],
  'l2.writeRate': [23.55, `${FIT}; before: 32, no measurement: half of what a channel reads`],
  'issue.branchTaken': [19.23, `${FIT}; before: 20, MI300X FMA chains: 16 to 24`],
  'mall.loss': [1.293, `${FIT}; before: 1, a part as large as fits`],
  'l2.loss': [4.166, `${FIT}; before: 4, no measurement: least-recently-used replacement keeps nothing`],
};
