// The loop of `hijack` on the 1.6 MB module with 167 kernels (or, without the reference data, on the fixture): `init`, and `build` of
// nothing, of one edited kernel, of all kernels edited, and of one edited kernel with everything assembled by either engine.
// Timed: whole processes, start-up included, processor time and wall clock. The text of a kernel is edited before each run, so no
// run finds the result of another; files are in the page cache. Run: npm run bench hijack.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readManifest } from '../src/iree/manifest.ts';
import { printHeader, program, report, root, runOnce, wavesmith, withFolder } from './support/processes.ts';

const ROUNDS = 5;
const large = join(root, '..', 'shared', 'vmfb', 'llama8b-fp8.gfx942.vmfb');
const module = existsSync(large) ? large : join(root, 'fixtures', 'matmul_f16.gfx942', 'baseline.vmfb');

/** The text with one more `s_nop` in front of its first scalar instruction; each of 16 rounds gives another text. */
function edited(text: string, round: number): string {
  const made = text.replace(/^\ts_/m, () => `\ts_nop ${round & 15}\n\ts_`);
  if (made === text) throw new Error('there is no instruction to edit');
  return made;
}

withFolder((work) => {
  const out = join(work, 'out');
  const folder = join(work, 'module');
  const init = program(wavesmith, 'hijack', 'init', module, '-o', folder, '--force');
  runOnce(init, out);
  const { baseline, executables } = readManifest(folder);
  const kernels = executables.reduce((n, e) => n + e.kernels.length, 0);
  const files = executables.flatMap((e) => (e.parts === undefined ? [e.asm] : e.parts.map((part) => part.asm)));
  const paths = files.map((file) => join(folder, file));
  const texts = paths.map((path) => readFileSync(path, 'utf8'));
  let edits = 0;
  /** Edits the first `count` texts as no run before had them. */
  const edit = (count: number): void => {
    for (const [i, path] of paths.entries())
      writeFileSync(path, i < count ? edited(texts[i] as string, edits) : (texts[i] as string));
    edits++;
  };
  console.log(
    'Timed: whole processes, start-up included; the text is another one before each run of an edited kernel.',
  );
  console.log(`${baseline.bytes} bytes, ${kernels} kernels, ${files.length} files; seconds`);
  printHeader();
  report('hijack init', init, out, ROUNDS);
  const build = (...flags: string[]) => program(wavesmith, 'hijack', 'build', folder, ...flags);
  edit(0);
  report('hijack build, nothing edited', build(), out, ROUNDS);
  report('hijack build, one kernel edited', build(), out, ROUNDS, () => edit(1));
  edit(paths.length);
  report('hijack build, all kernels edited (one run)', build(), out, 1);
  // Without the baseline's code objects nothing can be left out.
  renameSync(join(folder, 'baseline'), join(work, 'baseline'));
  report('one kernel edited, everything assembled', build(), out, ROUNDS, () => edit(1));
  report('the same by clang and ld.lld', build('--engine', 'llvm'), out, ROUNDS, () => edit(1));
});
