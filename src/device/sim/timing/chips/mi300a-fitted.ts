// Written by `npm run bench timing -- --write`. Do not edit.
import type { ChipNumbers } from '../chip.ts';

const FIT =
  'fitted to atax, bitonicsort, matrixmultiplication, memcopy, spmv, vectoradd on MI300A (docs/timing-accuracy.md)';

export const MI300A_FITTED: ChipNumbers = {
  'launch.eventUs': [3.566, `${FIT}; before: 5.6, MI300X microbenchmarks, floor`],
  'launch.gapUs': [1.492, `${FIT}; before: 2, no measurement`],
  'fill.us': [2.032, `${FIT}; before: 2, no measurement`],
  'copy.pinnedUs': [9.932, `${FIT}; before: 10, no measurement`],
  'copy.pinnedGbps': [56.73, `${FIT}; before: 50, PCIe 5 and SDMA engines: 64 GB/s before overhead`],
  'copy.stagedUs': [10.03, `${FIT}; before: 10, no measurement`],
  'copy.stagedGbps': [10.87, `${FIT}; before: 10, one host core copies about so much`],
  'mall.readGbps': [2304, `${FIT}; before: 2475, MI300X, which has the same memory and 8 dies instead of 6`],
  'mall.writeGbps': [1977, `${FIT}; before: 1725, MI300X, which has the same memory and 8 dies instead of 6`],
  'hbm.readGbps': [4680, `${FIT}; before: 4700, MI300X copies of 1 GB, the same memory`],
  'hbm.writeGbps': [3275, `${FIT}; before: 3300, MI300X copies of 1 GB, the same memory`],
  'mall.latency': [564.9, `${FIT}; before: 480, MI300X pointer chase`],
  'hbm.latency': [824.2, `${FIT}; before: 790, MI300X pointer chase`],
  'l2.latency': [224.5, `${FIT}; before: 245, gpu-benches and mt4g`],
  'vl1d.latency': [116.2, `${FIT}; before: 116, mt4g`],
  'vl1d.misses': [181, `${FIT}; before: 256, no measurement: the lines of the cache`],
  'l2.storeAck': [317, `${FIT}; before: 300, no measurement`],
  'issue.branchTaken': [18.65, `${FIT}; before: 20, MI300X FMA chains: 16 to 24`],
  'mall.loss': [0.8081, `${FIT}; before: 1, a part as large as fits`],
  'l2.loss': [2.644, `${FIT}; before: 4, no measurement: least-recently-used replacement keeps nothing`],
};
