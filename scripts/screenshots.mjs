// `npm run screenshots`: runs the tests of the pages of profiles in headless Chromium and says where the screenshots are that they keep.
// Without Chromium those tests are skipped, and this fails.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = resolve(process.env.WAVESMITH_SCREENSHOTS ?? join(root, '.wavesmith', 'screenshots'));
mkdirSync(folder, { recursive: true });
const begin = Date.now();
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const tests = ['tests/profile-page.test.ts', 'tests/profile-page-looks.test.ts'];
const { status } = spawnSync(process.execPath, [vitest, 'run', ...tests], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, WAVESMITH_SCREENSHOTS: folder },
});
const made = readdirSync(folder).filter(
  (name) => name.endsWith('.png') && statSync(join(folder, name)).mtimeMs >= begin,
);
if (made.length === 0) console.error('screenshots: none was made; is Chromium installed? (npm run setup)');
else console.log(`screenshots: ${made.length} in ${folder}`);
process.exit(made.length === 0 ? 1 : (status ?? 1));
