// Written by `npm run bench timing -- --write`. Do not edit.
import type { ClassAccuracy } from './limits.ts';

export const ACCURACY: Readonly<Record<string, Readonly<Record<string, ClassAccuracy>>>> = {
  mi300a: {
    latency: { points: 78, factor: 1.266 },
    memory: { points: 18, factor: 1.155 },
    dispatch: { points: 6, factor: 1.114 },
    cache: { points: 6, factor: 1.22 },
    compute: { points: 2, factor: 1.06 },
  },
};
