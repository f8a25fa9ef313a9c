// One GCD of an AMD Instinct MI250X (gfx90a), which is a device of its own to programs.
import type { ChipFile } from '../chip.ts';
import { MI210 } from './mi210.ts';

export const MI250X: ChipFile = {
  name: 'mi250x',
  product: 'AMD Instinct MI250X (one GCD)',
  target: 'gfx90a',
  validation: 'none',
  numbers: {
    ...MI210.numbers,
    cusPerXcc: [110, 'AMD CDNA 2 white paper'],
  },
};
