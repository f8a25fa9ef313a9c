// Written by `npm run bench timing -- --write`. Do not edit.
import type { ClassAccuracy } from './limits.ts';

export const ACCURACY: Readonly<Record<string, Readonly<Record<string, ClassAccuracy>>>> = {
  mi300a: {
    latency: { points: 152, factor: 1.164 },
    memory: { points: 45, factor: 1.123 },
    dispatch: { points: 13, factor: 1.133 },
    cache: { points: 16, factor: 1.23 },
    compute: { points: 5, factor: 1.032 },
  },
};
