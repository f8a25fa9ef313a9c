// The module cache of this build: modules written by other builds of the compiler are not used.
import { dirname, join } from 'node:path';
import { DiskModuleCache, moduleCacheFolder } from './module-cache.ts';

/** A hash of the sources, put in by scripts/build.mjs. */
declare const WAVESMITH_BUILD: string | undefined;
/** The same of everything that decides what instrumenting gives. */
declare const WAVESMITH_PROBE_BUILD: string | undefined;

/** The cache on disk; undefined when this code runs from sources, whose state nothing names. */
export function nodeModuleCache(): DiskModuleCache | undefined {
  return typeof WAVESMITH_BUILD === 'string' ? new DiskModuleCache(WAVESMITH_BUILD) : undefined;
}

/** The cache of instrumented code objects; undefined when this code runs from sources. */
export function nodeProbeCache(): DiskModuleCache | undefined {
  return typeof WAVESMITH_PROBE_BUILD === 'string'
    ? new DiskModuleCache(WAVESMITH_PROBE_BUILD, join(dirname(moduleCacheFolder()), 'probes'))
    : undefined;
}
