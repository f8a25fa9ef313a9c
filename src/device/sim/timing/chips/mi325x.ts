// AMD Instinct MI325X (gfx942): MI300X with HBM3E.
import type { ChipFile } from '../chip.ts';
import { MI300X } from './mi300x.ts';

export const MI325X: ChipFile = {
  name: 'mi325x',
  product: 'AMD Instinct MI325X',
  target: 'gfx942',
  validation: 'none',
  numbers: {
    ...MI300X.numbers,
    'hbm.readGbps': [5300, 'AMD data sheet: 6.0 TB/s against 5.3 TB/s of MI300X, in proportion to its copies'],
    'hbm.writeGbps': [3700, 'AMD data sheet: 6.0 TB/s against 5.3 TB/s of MI300X, in proportion to its copies'],
  },
};
