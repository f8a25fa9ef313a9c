// Written by `npm run bench timing -- --write`. Do not edit.
import type { ClassAccuracy } from './limits.ts';

export const ACCURACY: Readonly<Record<string, Readonly<Record<string, ClassAccuracy>>>> = {
  mi300a: {
    latency: { points: 155, factor: 1.194 },
    memory: { points: 44, factor: 1.135 },
    dispatch: { points: 13, factor: 1.087 },
    cache: { points: 13, factor: 1.179 },
    compute: { points: 4, factor: 1.029 },
  },
};
