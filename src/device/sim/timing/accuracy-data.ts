// Written by `npm run bench timing -- --write`. Do not edit.
import type { ClassAccuracy } from './limits.ts';

export const ACCURACY: Readonly<Record<string, Readonly<Record<string, ClassAccuracy>>>> = {
  mi300a: {
    latency: { points: 156, factor: 1.157 },
    memory: { points: 45, factor: 1.113 },
    dispatch: { points: 13, factor: 1.134 },
    cache: { points: 13, factor: 1.159 },
    compute: { points: 4, factor: 1.025 },
  },
};
