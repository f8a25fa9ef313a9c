// Written by `npm run bench timing -- --write`. Do not edit.
import type { ClassAccuracy } from './limits.ts';

export const ACCURACY: Readonly<Record<string, Readonly<Record<string, ClassAccuracy>>>> = {
  mi300a: {
    latency: { points: 144, factor: 1.258 },
    memory: { points: 41, factor: 1.291 },
    dispatch: { points: 11, factor: 1.064 },
    cache: { points: 17, factor: 1.146 },
    compute: { points: 5, factor: 1.055 },
  },
};
