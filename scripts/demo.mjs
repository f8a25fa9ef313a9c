// `npm run demo`: the hijack loop on a real IREE module. Sets itself up; without IREE it says so and uses a module that the
// same commands made earlier (fixtures/). Every step's expectation is checked; the demo fails when one does not hold.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensure } from './setup.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const work = join(root, '.wavesmith', 'demo');
const began = Date.now();
const colour = process.stdout.isTTY && process.env.NO_COLOR === undefined;
const paint = (code, text) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text);
const print = (text = '') => process.stdout.write(`${text}\n`);
const since = (start) => `${((Date.now() - start) / 1000).toFixed(1)} s`;

let step = 0;
const heading = (text) => print(`\n${paint('1;36', `${++step}. ${text}`)}`);

function fail(text) {
  print(paint('1;31', `demo failed: ${text}`));
  process.exit(1);
}

/** Runs a command of this checkout, shows it and its output, and checks its exit code. */
function wavesmith(args, expected = 0) {
  print(paint(1, `$ wavesmith ${args.join(' ')}`));
  const start = Date.now();
  const run = spawnSync(process.execPath, [join(root, 'bin', 'wavesmith'), ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  const output = `${run.stdout}${run.stderr}`.trimEnd();
  print(output.replaceAll(/^/gm, '  '));
  print(paint(2, `  (exit code ${run.status}, ${since(start)})`));
  if (run.status !== expected) fail(`exit code ${run.status} where ${expected} was expected`);
  return output;
}

/** Edits the kernel's text with `change`, and shows the lines that differ. */
function edit(file, change) {
  const before = readFileSync(file, 'utf8').split('\n');
  const after = before.flatMap(change);
  let shown = 0;
  for (const line of before.keys()) {
    const now = [change(before[line], line)].flat();
    if (now.length === 1 && now[0] === before[line]) continue;
    if (++shown > 6) continue;
    print(paint(31, `  ${String(line + 1).padStart(4)} - ${before[line]}`));
    for (const text of now) print(paint(32, `       + ${text}`));
  }
  if (shown === 0) fail('the edit found nothing to change');
  if (shown > 6) print(`       … and ${shown - 6} more lines like these`);
  writeFileSync(file, after.join('\n'));
}

print(paint(1, 'Wavesmith demo: edit the machine code inside an IREE module, prove the swap, run both, compare.'));
heading('Set-up');
const setUp = Date.now();
const report = ensure({ npm: true, iree: true, native: true });
if (!report.npm.ok) fail('the npm packages could not be installed');
const haveIree = report.iree.ok;
/** Whole modules need iree-run-module and the virtual runtime; without them the kernels run by themselves. */
const how = haveIree && report.native.ok ? [] : ['--dispatch'];
print(`  npm packages: present; LLVM: not needed; IREE: ${haveIree ? 'present' : 'NOT available'} (${since(setUp)})`);

rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
const folder = relative(root, join(work, 'matmul'));

if (haveIree) {
  heading('Compile a real MLIR matmul for gfx942 with the real iree-compile, once, keeping its assembly');
  print(readFileSync(join(root, 'examples/matmul_f16.mlir'), 'utf8').trimEnd().replaceAll(/^/gm, '  | '));
  wavesmith(['hijack', 'init', 'examples/matmul_f16.mlir', '-o', folder, '--target', 'gfx942']);
} else {
  heading('IREE could not be installed here, so nothing is compiled');
  print('  Instead: fixtures/matmul_f16.gfx942, which the same commands made earlier with the real iree-compile 3.13.');
  cpSync(join(root, 'fixtures/matmul_f16.gfx942'), join(root, folder), { recursive: true });
}
const asmName = readdirSync(join(root, folder, 'asm')).find((name) => name.endsWith('.s'));
const asm = join(root, folder, 'asm', asmName);
const pristine = readFileSync(asm, 'utf8');

heading('The kernel');
const lines = pristine.split('\n');
const count = (pattern) => lines.filter((line) => pattern.test(line)).length;
print(
  `  ${relative(root, asm)}: ${lines.length} lines, ${count(/^\s*v_mfma_/)} MFMAs, ${count(/^\s*s_waitcnt/)} wait counts`,
);
const firstMfma = lines.findIndex((line) => /^\s*v_mfma_/.test(line));
for (let i = firstMfma - 4; i < firstMfma + 6; i++) print(`  ${String(i + 1).padStart(4)}   ${lines[i]}`);

heading('Untouched, it builds to a byte-identical module');
wavesmith(['hijack', 'build', folder]);

heading('A harmless edit: wait for everything instead of for some, and idle before each MFMA');
edit(asm, (line) => {
  if (/^\s*s_waitcnt lgkmcnt\([1-9]\d*\)$/.test(line)) return [line.replace(/\(\d+\)/, '(0)')];
  return /^\s*v_mfma_/.test(line) ? ['\ts_nop 1', line] : [line];
});
const harmless = readFileSync(asm, 'utf8');
wavesmith(['hijack', 'build', folder]);

heading(
  how.length === 0
    ? 'Run both modules through iree-run-module, the virtual GPU as its GPU, same seeded inputs'
    : 'Run baseline and modified kernel on the virtual device, same seeded inputs',
);
const equal = wavesmith(['hijack', 'run', folder, ...how]);
if (!/^\s*EQUAL/m.test(equal)) fail('the kernels should have agreed');

heading('A harmful edit: one MFMA with its two factors exchanged');
writeFileSync(asm, pristine);
const last = lines.findLastIndex((line) => /^\s*v_mfma_/.test(line));
edit(asm, (line, i) =>
  i === last ? [line.replace(/(v\[\d+:\d+\]), (v\[\d+:\d+\]), (v\[\d+:\d+\])/, '$1, $3, $2')] : [line],
);
wavesmith(['hijack', 'build', folder]);
const different = wavesmith(['hijack', 'run', folder, ...how], 1);
if (!/^\s*DIFFERENT/m.test(different)) fail('the wrong result should have been noticed');

heading('An edit that could not run: a register the descriptor does not allocate');
writeFileSync(asm, pristine);
edit(asm, (line, i) => (i === firstMfma ? ['\tv_mov_b32_e32 v250, 0', line] : [line]));
const refused = wavesmith(['hijack', 'build', folder], 1);
if (!refused.includes('hijack/register-count')) fail('the edit should have been refused');

if (haveIree) {
  heading('The other way in: iree-compile itself substitutes the harmless edit');
  writeFileSync(asm, harmless);
  wavesmith(['hijack', 'build', folder, '--via', 'compile', '-o', join(folder, 'compiled.vmfb')]);
  wavesmith(['hijack', 'run', folder, '--modified', join(folder, 'compiled.vmfb'), ...how]);
}

print(
  `\n${paint('1;32', 'Done')} in ${since(began)}. The folder is ${folder}; see docs/hijack.md for the guide.` +
    `${haveIree ? '' : ' (without IREE: the module was compiled earlier)'}`,
);
