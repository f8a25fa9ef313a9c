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

export default defineConfig({
  test: {
    // Against what hangs. The longest test takes half a minute on two free cores; machines with other work take ten times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
    unstubEnvs: true,
    projects: [
      // They start programs and load libraries of GPUs into their process: each file has its own.
      { extends: true, test: { name: 'programs', include: ['tests/**/*.test.ts', 'tools/**/*.test.ts'] } },
      // Files of a worker share what they import and what V8 has compiled: 42 s of processor time for 21 of them became 24. So a test here leaves nothing
      // behind in its process.
      {
        extends: true,
        test: {
          name: 'rooms',
          include: ['src/**/*.test.ts'],
          isolate: false,
          setupFiles: ['tests/support/relaxed-simd.ts'],
        },
      },
    ],
    reporters: ['default', countLine],
  },
});
