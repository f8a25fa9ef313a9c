// Written by `npm run bench timing -- --write`. Do not edit.
import type { ClassAccuracy } from './limits.ts';

export const ACCURACY: Readonly<Record<string, Readonly<Record<string, ClassAccuracy>>>> = {
  mi300a: {
    latency: { points: 152, factor: 1.19 },
    memory: { points: 46, factor: 1.139 },
    dispatch: { points: 13, factor: 1.084 },
    cache: { points: 16, factor: 1.186 },
    compute: { points: 4, factor: 1.029 },
  },
};
