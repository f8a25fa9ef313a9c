// AMD Instinct MI300A (gfx942): 6 XCDs of 38 compute units, memory shared with the processor.
import type { ChipFile } from '../chip.ts';
import { MI300A_FITTED } from './mi300a-fitted.ts';
import { MI300X } from './mi300x.ts';

const WHITE_PAPER = 'AMD CDNA 3 white paper';

export const MI300A: ChipFile = {
  name: 'mi300a',
  product: 'AMD Instinct MI300A',
  target: 'gfx942',
  validation: '13 HIP programs (docs/timing-accuracy.md)',
  numbers: {
    ...MI300X.numbers,
    xccs: [6, WHITE_PAPER],
    ...MI300A_FITTED,
  },
};
