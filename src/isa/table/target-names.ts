// The targets, in the order of the generated bit sets.
import type { TargetName } from '../types.ts';

export const TARGET_NAMES: readonly TargetName[] = ['gfx90a', 'gfx942', 'gfx950'];
