// Writes docs/errors/: a page for each error code, and an index, from the registry in src/cli/explain/; and docs/profile-findings.md.
// Pages of codes that are gone are removed. Run: node scripts/run-ts.mjs tools/gen-errors/main.ts
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorFiles, profileFindingsPage } from './pages.ts';

const folder = 'docs/errors';
rmSync(folder, { recursive: true, force: true });
const files = errorFiles();
for (const [name, text] of files) {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}
writeFileSync('docs/profile-findings.md', profileFindingsPage());
console.log(`gen-errors: ${files.size} files in ${folder}.`);
