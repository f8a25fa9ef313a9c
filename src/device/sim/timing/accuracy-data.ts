// Written by `npm run bench timing -- --write`. Do not edit.
import type { ClassAccuracy } from './limits.ts';

export const ACCURACY: Readonly<Record<string, Readonly<Record<string, ClassAccuracy>>>> = {
  mi300a: {
    latency: { points: 155, factor: 1.183 },
    memory: { points: 50, factor: 1.145 },
    dispatch: { points: 12, factor: 1.162 },
    cache: { points: 13, factor: 1.194 },
    compute: { points: 5, factor: 1.035 },
  },
};
