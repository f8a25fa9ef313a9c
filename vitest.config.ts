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
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts', 'tools/**/*.test.ts'],
    // Against what hangs. The longest test takes half a minute on two free cores; machines with other work take ten times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
    // Files of a worker share what they import and what V8 has compiled: importing it for each was a tenth of the suite's time. So a test leaves
    // nothing behind in its process: mocks are restored by vitest, environment variables and folders by the test.
    isolate: false,
    unstubEnvs: true,
    reporters: ['default', countLine],
  },
});
