// Written by `npm run bench timing -- --write`. Do not edit.
import type { ClassAccuracy } from './limits.ts';

export const ACCURACY: Readonly<Record<string, Readonly<Record<string, ClassAccuracy>>>> = {
  mi300a: {
    latency: { points: 74, factor: 1.267 },
    memory: { points: 17, factor: 1.292 },
    dispatch: { points: 6, factor: 1.134 },
    cache: { points: 9, factor: 1.106 },
    compute: { points: 2, factor: 1.066 },
  },
};
