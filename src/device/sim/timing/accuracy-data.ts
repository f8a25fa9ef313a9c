// Written by `npm run bench timing -- --write`. Do not edit.
import type { ClassAccuracy } from './limits.ts';

export const ACCURACY: Readonly<Record<string, Readonly<Record<string, ClassAccuracy>>>> = {};
