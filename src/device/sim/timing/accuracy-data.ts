// Written by `npm run bench timing -- --write`. Do not edit.
import type { ClassAccuracy } from './limits.ts';

export const ACCURACY: Readonly<Record<string, Readonly<Record<string, ClassAccuracy>>>> = {
  mi300a: {
    latency: { points: 34, factor: 1.306 },
    memory: { points: 8, factor: 1.159 },
    dispatch: { points: 3, factor: 1.115 },
    cache: { points: 6, factor: 1.186 },
    compute: { points: 2, factor: 1.049 },
  },
};
