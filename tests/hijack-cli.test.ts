// The commands as typed: exit codes, what is printed, flags.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { asmFile, edit, FIXTURE, fixtureFolder, KERNEL, temporaryFolder } from './hijack-support.ts';
import { wavesmith } from './support/command.ts';

test('init, build and run of a harmless and of a wrong edit', async () => {
  const folder = fixtureFolder();
  const untouched = await wavesmith('hijack', 'build', folder);
  expect(untouched).toMatchObject({ status: 0, err: '' });
  expect(untouched.out).toContain('byte-identical to the baseline');
  expect((await wavesmith('hijack', 'run', folder, '--dispatch')).out).toContain('No kernel was changed');

  edit(asmFile(folder), /^\tv_mfma_/m, '\ts_nop 1\n$&');
  const built = await wavesmith('hijack', 'build', folder);
  expect(built.out).toContain(`  ${KERNEL}\n    instructions 505 → 506 (+1 −0)\n`);
  expect(built.out).toMatch(
    /proof: reopened .*modified\.vmfb: its code object is the assembled one \(sha256 [0-9a-f]{64}\)/,
  );
  const equal = await wavesmith('hijack', 'run', folder, '--dispatch');
  expect(equal.status).toBe(0);
  expect(equal.out).toMatch(/baseline {2}3544 instructions, 8 wavefronts/);
  expect(equal.out).toMatch(/modified {2}3552 instructions, 8 wavefronts/);
  expect(equal.out).toContain('binding 2 (output, 16384 × f32): identical');
  expect(equal.out).toContain('EQUAL: 1 dispatch(es), 1 identical in every bit, seed 1');

  edit(asmFile(folder), /^\tbuffer_store_dword (v\d+),/m, '\tv_mul_f32_e32 $1, 0x3f800002, $1\n$&');
  await wavesmith('hijack', 'build', folder);
  const rounded = await wavesmith('hijack', 'run', folder, '--dispatch', '--exact');
  expect(rounded.status).toBe(1);
  expect(rounded.out).toMatch(/differ in bits, all within the f32 tolerance 0\.0001/);
  expect(rounded.out).toContain(
    '--exact was asked for; rounding differences like these are normal for f32: leave it out',
  );
  const json = await wavesmith('hijack', 'run', folder, '--dispatch', '--json', '--seed', '7');
  expect(JSON.parse(json.out)).toMatchObject({ ok: true, seed: 7, runs: [{ verdict: 'within-tolerance' }] });
});

test('init of a module prints what it found; sizes come from the module, types from --buffer', async () => {
  const folder = join(temporaryFolder(), 'made');
  const made = await wavesmith('hijack', 'init', join(FIXTURE, 'baseline.vmfb'), '-o', folder);
  expect(made.out).toContain(
    `kernel ${KERNEL}\n    workgroup 256×1×1, grid 2×1×1, 3 bindings, 0 constants, 50688 bytes of LDS`,
  );
  await wavesmith('hijack', 'build', folder);
  const run = (...flags: string[]) => wavesmith('hijack', 'run', folder, '--all', ...flags);
  expect((await run()).err).toContain('hint: Give --buffer 0=TYPE, for example --buffer 0=f16 (32768 bytes).');
  const types = ['--buffer', '0=f16', '--buffer', '1=32768:f16', '--buffer', '2=65536:f32'];
  expect((await run(...types)).status).toBe(0);
  expect((await run('--buffer', '0=f99')).err).toContain("error[hijack/element-type]: There is no element type 'f99'.");
});

test.each([
  [['hijack'], 2, ''],
  [['hijack', 'nothing'], 2, "error[cli/usage]: hijack has no subcommand 'nothing'."],
  [['hijack', 'init', 'x.vmfb'], 2, "error[cli/usage]: required option '-o, --output <dir>' not specified."],
  [
    ['hijack', 'init', join(FIXTURE, 'baseline.vmfb'), '-o', 'd', '--target', 'gfx942'],
    2,
    '--target would have no effect',
  ],
  [['hijack', 'init', join(FIXTURE, 'manifest.json'), '-o', 'd'], 2, 'An MLIR input needs --target.'],
  [['hijack', 'init', join(FIXTURE, 'manifest.json'), '-o', 'd', '--target', 'gfx1'], 1, "There is no target 'gfx1'."],
  [['hijack', 'init', process.execPath, '-o', 'd'], 1, 'has no fat binary section with GPU code'],
  [['hijack', 'build', FIXTURE, '--via', 'magic'], 2, "--via is 'patch' or 'compile', not 'magic'."],
  [['hijack', 'build', FIXTURE, '--engine', 'gas'], 2, "--engine is 'wavesmith' or 'llvm', not 'gas'."],
  [['hijack', 'run', FIXTURE, '--device', 'rocm:first'], 2, "'rocm:first' is not a device."],
  [['hijack', 'run', FIXTURE, '--device', 'cuda:0'], 2, "There is no device 'cuda:0'."],
  [['hijack', 'run', FIXTURE, '--grid', '1,2,3,4'], 2, '--grid needs X,Y,Z in workgroups'],
  [['hijack', 'run', FIXTURE, '--buffer', '0'], 2, '--buffer needs N=BYTES, N=TYPE or N=BYTES:TYPE'],
  [['hijack', 'run', FIXTURE, '--tolerance', 'much'], 2, "--tolerance needs a number from 0, not 'much'."],
  [['hijack', 'asm', 'a.s', 'b.mlir'], 2, 'hijack asm needs MODIFIED.s, INPUT.mlir and OUT.vmfb.'],
  [['hijack', 'asm', 'a.s', 'b.mlir', 'o.vmfb', 'exec', 'more'], 2, "'more' is one argument too many."],
  [['hijack', 'asm', 'missing.s', 'b.mlir', 'o.vmfb'], 1, "Cannot read the assembly 'missing.s': no such file."],
])('wavesmith %j', async (argv, status, text) => {
  const result = await wavesmith(...argv);
  expect(result.err).toContain(text);
  expect(result.status).toBe(status);
});

test('FLAGS of asm may be one quoted word, as in the script, or several', async () => {
  const asm = asmFile(FIXTURE);
  const input = join(FIXTURE, 'input', 'matmul_f16.mlir');
  for (const flags of [
    ['--iree-opt-level=O3 --iree-hip-target=gfx950'],
    ['--iree-opt-level=O3', '--iree-hip-target=gfx950'],
  ]) {
    const result = await wavesmith('hijack', 'asm', asm, input, 'o.vmfb', '', ...flags);
    expect(result.err).toContain("error[hijack/target-flag]: '--iree-hip-target=gfx950' among the extra flags");
  }
  expect(readFileSync(asm, 'utf8')).toContain('.amdgcn_target');
});

test('doctor prints one line per finding and exits 0', async () => {
  const { status, out } = await wavesmith('doctor');
  expect(status).toBe(0);
  expect(out).toMatch(/^ok +Node +\d+\.\d+/m);
  expect(out).toMatch(/^ok +virtual device +'sim', built in: gfx90a, gfx942, gfx950/m);
});
