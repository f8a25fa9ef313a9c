// Writes docs/pseudocode.md from the list of adjudicated differences of tests/pseudocode.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { page } from '../../tests/pseudocode/page.ts';

writeFileSync(join(process.cwd(), 'docs/pseudocode.md'), page());
