// AMD Instinct MI355X (gfx950): MI350X with a higher clock.
import type { ChipFile } from '../chip.ts';
import { MI350X } from './mi350x.ts';

export const MI355X: ChipFile = {
  name: 'mi355x',
  product: 'AMD Instinct MI355X',
  target: 'gfx950',
  validation: 'none',
  numbers: {
    ...MI350X.numbers,
    clockMhz: [2400, 'ROCm documentation, accelerator and GPU hardware specifications'],
  },
};
