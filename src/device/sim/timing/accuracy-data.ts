// Written by `npm run bench timing -- --write`. Do not edit.
import type { ClassAccuracy } from './limits.ts';

export const ACCURACY: Readonly<Record<string, Readonly<Record<string, ClassAccuracy>>>> = {
  mi300a: {
    latency: { points: 155, factor: 1.178 },
    memory: { points: 50, factor: 1.139 },
    dispatch: { points: 12, factor: 1.162 },
    cache: { points: 13, factor: 1.146 },
    compute: { points: 5, factor: 1.037 },
  },
};
