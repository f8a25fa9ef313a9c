import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import type { Reporter, TestModule } from 'vitest/node';

/** Ends the output with `N passed, N failed, N skipped` alone on a line: programs that judge a log look for it. */
const countLine: Reporter = {
  onTestRunEnd(modules: readonly TestModule[]) {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) for (const test of module.children.allTests()) counts[test.result().state]++;
    console.log(`${counts.passed} passed, ${counts.failed + counts.pending} failed, ${counts.skipped} skipped`);
  },
};

/** Tests that load a GPU's library into their process: it takes addresses there, and does not leave. */
const gpuTests = readdirSync(join(import.meta.dirname, 'tests'))
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `tests/${name}`)
  .filter((path) => /support\/rocm\.ts|\bloadAddon\b/.test(readFileSync(join(import.meta.dirname, path), 'utf8')));

export default defineConfig({
  test: {
    // Against what hangs. The longest test takes half a minute on two free cores; machines with other work take ten times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
    unstubEnvs: true,
    projects: [
      { extends: true, test: { name: 'gpu', include: gpuTests } },
      // Files of a worker share what they import and what V8 has compiled: imports of all tests took 351 s of processor time, and 107 shared. So a test here
      // leaves nothing behind in its process.
      {
        extends: true,
        test: { name: 'shared', include: ['{src,tests,tools}/**/*.test.ts'], exclude: gpuTests, isolate: false },
      },
    ],
    reporters: ['default', countLine],
  },
});
