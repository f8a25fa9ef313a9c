// Written by `npm run bench timing -- --write`. Do not edit.
import type { ClassAccuracy } from './limits.ts';

export const ACCURACY: Readonly<Record<string, Readonly<Record<string, ClassAccuracy>>>> = {
  mi300a: {
    latency: { points: 78, factor: 1.274 },
    memory: { points: 18, factor: 1.17 },
    dispatch: { points: 6, factor: 1.098 },
    cache: { points: 6, factor: 1.12 },
    compute: { points: 2, factor: 1.051 },
  },
};
