// Room `device/sim/timing/chips`: one file per chip, its numbers with their sources. Begin with mi300x.ts, from which others differ.
import { WavesmithError } from '../../../../base/index.ts';
import { targetInfo } from '../../../../isa/index.ts';
import type { TargetName } from '../../../../isa/types.ts';
import { type Chip, type ChipFile, makeChip } from '../chip.ts';
import { MI210 } from './mi210.ts';
import { MI250X } from './mi250x.ts';
import { MI300A } from './mi300a.ts';
import { MI300X } from './mi300x.ts';
import { MI325X } from './mi325x.ts';
import { MI350X } from './mi350x.ts';
import { MI355X } from './mi355x.ts';

const FILES: readonly ChipFile[] = [MI210, MI250X, MI300A, MI300X, MI325X, MI350X, MI355X];

/** What `--chip` takes, beside files. */
export const CHIP_NAMES: readonly string[] = FILES.map((f) => f.name);

/** The description of a chip by name; an unknown name is `timing/unknown-chip`. */
export function chipFile(name: string): ChipFile {
  const found = FILES.find((f) => f.name === name.toLowerCase());
  if (found !== undefined) return found;
  throw new WavesmithError('timing/unknown-chip', `There is no chip '${name}'.`, {
    hint: `Use one of ${CHIP_NAMES.join(', ')}, or a chip file (.json).`,
  });
}

/** A chip by name. */
export function chipNamed(name: string): Chip {
  return makeChip(chipFile(name));
}

/** The chip of the board that programs see when none is named. */
export function defaultChip(target: TargetName): Chip {
  const { board } = targetInfo(target);
  const found = FILES.find((f) => f.product === board.name);
  if (found === undefined) throw new Error(`no chip for ${target}`);
  return makeChip(found);
}
