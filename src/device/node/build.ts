// The module cache of this build: modules written by other builds of the compiler are not used.
import { DiskModuleCache } from './module-cache.ts';

/** A hash of the sources, put in by scripts/build.mjs. */
declare const WAVESMITH_BUILD: string | undefined;

/** The cache on disk; undefined when this code runs from sources, whose state nothing names. */
export function nodeModuleCache(): DiskModuleCache | undefined {
  return typeof WAVESMITH_BUILD === 'string' ? new DiskModuleCache(WAVESMITH_BUILD) : undefined;
}
