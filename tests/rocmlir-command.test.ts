// wavesmith rocmlir and iree-export as typed, with today's IREE: exit codes, files, messages, modules that make no single kernel.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { main } from '../src/cli/main.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import { moduleAttribute } from '../src/mlir/edit.ts';
import { parseMlir, rangeText } from '../src/mlir/parse.ts';
import { MIGRAPHX_OPERATIONS, operationStatus } from '../src/rocmlir/dialect.ts';
import { generate } from '../src/rocmlir/gen.ts';
import { FALLS_BACK, LOWERINGS, WRITTEN_OUT } from '../src/rocmlir/lower/operations.ts';
import { merge } from '../src/rocmlir/merge.ts';
import {
  environment,
  examplesFolder,
  hasIree,
  hasMlirOpt,
  hostModule,
  mlirOpt,
  moduleToBinary,
  temporaryFolder,
} from './support/rocmlir.ts';

const root = join(import.meta.dirname, '..');
const ready = hasIree();
let folder = '';
beforeAll(() => {
  folder = temporaryFolder();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

async function wavesmith(...argv: string[]): Promise<{ status: number; out: string; err: string }> {
  const text = { out: '', err: '' };
  const collect = (key: 'out' | 'err') => (chunk: string | Uint8Array) => {
    text[key] += String(chunk);
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(collect('out'));
  vi.spyOn(process.stderr, 'write').mockImplementation(collect('err'));
  const status = await main(['rocmlir', ...argv]);
  vi.restoreAllMocks();
  return { status, ...text };
}

const example = (name: string): string => join(examplesFolder, name);
const file = (name: string, text: string | Uint8Array): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const read = (path: string): string => readFileSync(path, 'utf8');

const TOSA = `module {
  func.func @f(%a: tensor<1x16x32xf32>, %b: tensor<1x32x16xf32>) -> tensor<1x16x16xf32> {
    %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = tosa.matmul %a, %b, %z, %z : (tensor<1x16x32xf32>, tensor<1x32x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x16xf32>
    %1 = tosa.tanh %0 : (tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
    return %1 : tensor<1x16x16xf32>
  }
}
`;
const TWO_DOTS = `module {
  func.func @two(%a: tensor<16x16xf32>, %b: tensor<16x24xf32>, %c: tensor<24x16xf32>) -> tensor<16x16xf32> {
    %0 = migraphx.dot %a, %b : tensor<16x16xf32>, tensor<16x24xf32> -> tensor<16x24xf32>
    %1 = migraphx.dot %0, %c : tensor<16x24xf32>, tensor<24x16xf32> -> tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }
}
`;
const SAME_DOTS = TWO_DOTS.replaceAll('24', '16');
const NO_KERNEL =
  'module {\n  func.func @id(%a: tensor<8xf32>) -> tensor<8xf32> {\n    return %a : tensor<8xf32>\n  }\n}\n';
const DYNAMIC = `module {
  func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %a, %c0 : tensor<?xf32>
    %e = tensor.empty(%d) : tensor<?xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%x: f32, %o: f32):
      %y = arith.addf %x, %x : f32
      linalg.yield %y : f32
    } -> tensor<?xf32>
    return %r : tensor<?xf32>
  }
}
`;
/** The third argument is read by nothing, the bias is used before the factors. */
const UNUSED = `module {
  func.func @unused(%bias: tensor<16xf32>, %a: tensor<16x16xf32>, %nothing: tensor<5xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %0 = migraphx.multibroadcast %bias {out_lens = [16, 16]} : tensor<16xf32> -> tensor<16x16xf32>
    %1 = migraphx.dot %b, %a : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
    %2 = migraphx.add %1, %0 : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
    return %2 : tensor<16x16xf32>
  }
}
`;
/** What migraphx-to-tosa wrote when the original passes were made: TOSA before 1.0. */
const OLD_TOSA = `module attributes {mhal.arch = "gfx942"} {
  func.func @mlir_convolution(%arg0: tensor<16xf16>, %arg1: tensor<1152xf16>, %arg2: tensor<1152xf16>) -> tensor<576xf16> attributes {kernel = "mixr"} {
    %in = tosa.reshape %arg1 {new_shape = array<i64: 1, 8, 12, 12>} : (tensor<1152xf16>) -> tensor<1x8x12x12xf16>
    %fil = tosa.reshape %arg2 {new_shape = array<i64: 16, 8, 3, 3>} : (tensor<1152xf16>) -> tensor<16x8x3x3xf16>
    %perm = "tosa.const"() <{value = dense<[0, 2, 3, 1]> : tensor<4xi32>}> : () -> tensor<4xi32>
    %back = "tosa.const"() <{value = dense<[0, 3, 1, 2]> : tensor<4xi32>}> : () -> tensor<4xi32>
    %0 = tosa.transpose %in, %perm : (tensor<1x8x12x12xf16>, tensor<4xi32>) -> tensor<1x12x12x8xf16>
    %1 = tosa.transpose %fil, %perm : (tensor<16x8x3x3xf16>, tensor<4xi32>) -> tensor<16x3x3x8xf16>
    %zero = "tosa.const"() <{value = dense<0.000000e+00> : tensor<16xf16>}> : () -> tensor<16xf16>
    %2 = tosa.conv2d %0, %1, %zero {acc_type = f32, dilation = array<i64: 1, 1>, group = 1 : i64, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : (tensor<1x12x12x8xf16>, tensor<16x3x3x8xf16>, tensor<16xf16>) -> tensor<1x6x6x16xf16>
    %3 = tosa.transpose %2, %back : (tensor<1x6x6x16xf16>, tensor<4xi32>) -> tensor<1x16x6x6xf16>
    %b = tosa.reshape %arg0 {new_shape = array<i64: 1, 16, 1, 1>} : (tensor<16xf16>) -> tensor<1x16x1x1xf16>
    %4 = tosa.add %3, %b : (tensor<1x16x6x6xf16>, tensor<1x16x1x1xf16>) -> tensor<1x16x6x6xf16>
    %5 = tosa.clamp %4 {max_fp = 3.40282347E+38 : f32, max_int = 9223372036854775807 : i64, min_fp = 0.000000e+00 : f32, min_int = 0 : i64} : (tensor<1x16x6x6xf16>) -> tensor<1x16x6x6xf16>
    %6 = tosa.mul %5, %5 {shift = 0 : i8} : (tensor<1x16x6x6xf16>, tensor<1x16x6x6xf16>) -> tensor<1x16x6x6xf16>
    %7 = tosa.reshape %6 {new_shape = array<i64: 576>} : (tensor<1x16x6x6xf16>) -> tensor<576xf16>
    return %7 : tensor<576xf16>
  }
}
`;
/** The flags of the original's iree-config.yaml. */
const CONFIG = `---
- "--iree-global-opt-propagate-transposes=true"
- "--iree-opt-outer-dim-concat=true"
- "--iree-opt-const-eval=false"
- "--iree-opt-data-tiling=false"
- "--iree-rocm-waves-per-eu=2"
- "--iree-vm-target-truncate-unsupported-floats"
- "--iree-codegen-llvmgpu-use-vector-distribution"
- "--iree-llvmgpu-enable-prefetch"
- "--iree-codegen-gpu-native-math-precision=true"
- "--iree-flow-enable-aggressive-fusion"
- "--iree-global-opt-enable-fuse-horizontal-contractions=true"
- "--iree-opt-aggressively-propagate-transposes=true"
- "--iree-execution-model=async-external"
- "--iree-flow-enable-fuse-padding-into-linalg-consumer-ops"
- "--iree-flow-element-wise-fuse-multi-reduction"
- "--iree-flow-enable-fuse-padding-into-linalg-producer-ops"
- "--iree-flow-fuse-multi-use"
`;

describe.skipIf(!ready)('with IREE', () => {
  test('compile writes a code object and its manifest', async () => {
    const [hsaco, manifest] = [join(folder, 'gemm.hsaco'), join(folder, 'gemm.json')];
    const run = await wavesmith('compile', example('gemm_bias_relu.mlir'), '-o', hsaco, '--manifest', manifest);
    expect(run).toMatchObject({ status: 0, err: '' });
    const written = JSON.parse(read(manifest));
    const object = readCodeObject(readFileSync(hsaco));
    const kernel = object.kernels.find((k) => k.name === written.kernel);
    expect(object.target.processor).toBe('gfx942');
    expect(kernel?.metadata?.reqdWorkgroupSize).toEqual(written.workgroup_sizes);
    expect(written.static_workgroup_memory).toBe(kernel?.descriptor?.groupSegmentFixedSize);
    expect(written.arguments.map((a: { kind: string; bytes: number }) => [a.kind, a.bytes])).toEqual([
      ['input', 4 * 32 * 48],
      ['input', 4 * 48 * 64],
      ['input', 4 * 64],
      ['output', 4 * 32 * 64],
    ]);
    expect(kernel?.metadata?.args.filter((a) => !a.valueKind.startsWith('hidden_'))).toHaveLength(4);
  });

  test('run compares; arguments in another order than their use, and unused ones', async () => {
    const run = await wavesmith('run', file('unused.mlir', UNUSED), '--seed', '3');
    expect(run).toMatchObject({ status: 0, err: '' });
    expect(run.out).toMatch(/^EQUAL.* beside what the operations mean, seed/m);
    const cpu = await wavesmith('run', file('unused.mlir', UNUSED), '--reference', 'cpu');
    expect(cpu.out).toMatch(/^EQUAL.* beside IREE on the CPU, seed/m);
    const strict = await wavesmith('run', file('unused.mlir', UNUSED), '--tolerance', '0', '--json');
    const report = JSON.parse(strict.out);
    expect(strict.status).toBe(report.comparisons[0].different === 0 ? 0 : 1);
  });

  test('run takes TOSA, and --merged the kernel of a merged module', async () => {
    const input = file('tosa.mlir', TOSA);
    const [gen, merged] = [join(folder, 'tosa.gen.mlir'), join(folder, 'tosa.merged.mlir')];
    expect(await wavesmith('gen', input, '-o', gen, '-a', 'gfx942')).toMatchObject({ status: 0, err: '' });
    // Everything but the attribute is as it was.
    expect(read(gen).replace(/ attributes \{iree\.export = .*\} \{$/m, ' {')).toBe(TOSA);
    if (!hasMlirOpt()) return;
    const document = parseMlir(read(gen));
    const attribute = moduleAttribute(document, 'iree.export');
    const host = hostModule(3, { attribute: rangeText(document, attribute?.first ?? 0, attribute?.last ?? 0) });
    const merge = await wavesmith('merge', file('host.mlir', moduleToBinary(host)), '-o', merged);
    expect(merge).toMatchObject({ status: 0, err: '' });
    expect(mlirOpt(read(merged))).toContain('gpu.kernel_metadata');
    expect((await wavesmith('run', input, '--merged', merged)).out).toMatch(/^EQUAL.* beside IREE on the CPU, seed/m);
  });

  test('TOSA from before 1.0, as the original passes hand it over', async () => {
    const input = file('old-tosa.mlir', OLD_TOSA);
    expect((await wavesmith('run', input)).out).toMatch(/^EQUAL.* beside IREE on the CPU, seed/m);
    const output = join(folder, 'old-tosa.gen.mlir');
    expect(await wavesmith('gen', input, '-o', output, '-a', 'gfx942')).toMatchObject({ status: 0, err: '' });
    // rocMLIR goes on with its own TOSA.
    expect(read(output).replace(/, iree\.export = .*\} \{$/m, '} {')).toBe(OLD_TOSA);
  });

  test.each([
    ['no kernel', NO_KERNEL, /rocmlir\/no-kernel\]: expected at least one binary/],
    ['a dynamic workgroup count', DYNAMIC, /rocmlir\/workgroup-count\]: expected a valid `workgroup_count` field/],
    [
      'an operation IREE refuses',
      'module {\n  func.func @f() {\n    test.unknown\n    return\n  }\n}\n',
      /rocmlir\/compiler-failed\]/,
    ],
  ])('%s: gen falls back, gen --strict and compile write nothing', async (name, text, message) => {
    const input = file('wrong.mlir', text);
    const output = join(folder, `${name.replaceAll(' ', '-')}.mlir`);
    const strict = await wavesmith('gen', input, '-o', output, '-a', 'gfx942', '--strict');
    expect(strict.status).toBe(1);
    expect(strict.err).toMatch(message);
    expect(existsSync(output)).toBe(false);
    const gen = await wavesmith('gen', input, '-o', output, '-a', 'gfx942');
    expect(gen.status).toBe(0);
    expect(gen.err).toContain("fallback: the module keeps rocMLIR's own kernel.");
    expect(read(output)).toBe(
      text.replace('module {', 'module attributes {iree.export = "[iree-error]: invocation failed"} {'),
    );
    const hsaco = join(folder, 'wrong.hsaco');
    expect((await wavesmith('compile', input, '-o', hsaco)).status).toBe(1);
    expect(existsSync(hsaco)).toBe(false);
    expect(readdirSync(folder).filter((entry) => entry.includes('.tmp-'))).toEqual([]);
  });

  test.each([
    ['two kernels', TWO_DOTS],
    ['one kernel several times', SAME_DOTS],
  ])('%s become a sequence of launches, whose merged module computes the same', async (name, text) => {
    const input = file('sequence.mlir', text);
    const [gen, merged] = [join(folder, `${name}.gen.mlir`), join(folder, `${name}.merged.mlir`)];
    const done = await wavesmith('gen', input, '-o', gen, '-a', 'gfx942');
    expect(done).toMatchObject({ status: 0, err: '' });
    expect(done.out).toContain('bytes of scratch between them');
    const manifest = await wavesmith('compile', input, '-o', join(folder, 'sequence.hsaco'), '--json');
    const { steps, scratch_bytes: scratch } = JSON.parse(manifest.out);
    expect(steps).toHaveLength(2);
    expect(scratch).toBeGreaterThan(0);
    expect((await wavesmith('run', input)).out).toMatch(/^EQUAL.* beside what the operations mean, seed/m);
    if (!hasMlirOpt()) return;
    const document = parseMlir(read(gen));
    const attribute = moduleAttribute(document, 'iree.export');
    const host = hostModule(4, { attribute: rangeText(document, attribute?.first ?? 0, attribute?.last ?? 0) });
    const merge = await wavesmith('merge', file('host2.mlir', moduleToBinary(host)), '-o', merged);
    expect(merge).toMatchObject({ status: 0, err: '' });
    expect(mlirOpt(read(merged)).match(/gpu\.launch_func/g)).toHaveLength(2);
    expect((await wavesmith('run', input, '--merged', merged)).out).toMatch(
      /^EQUAL.* beside what the operations mean, seed/m,
    );
  });

  test('features are those of the architecture; another’s are refused with the ones that fit', async () => {
    const output = join(folder, 'gfx1100.hsaco');
    const wrong = await wavesmith('compile', file('tosa3.mlir', TOSA), '-o', output, '-a', 'gfx1100', '-f', '+sramecc');
    expect(wrong.status).toBe(1);
    expect(wrong.err).toContain("gfx1100 has no target feature 'sramecc'");
    expect(wrong.err).toContain("Give -f ''");
    expect(existsSync(output)).toBe(false);
    const right = await wavesmith('compile', file('tosa3.mlir', TOSA), '-o', output, '-a', 'gfx1100');
    expect(right).toMatchObject({ status: 0, err: '' });
    expect(readCodeObject(readFileSync(output)).target.processor).toBe('gfx1100');
  });

  test('IREE_CONFIG with the original’s 17 flags: what changed is said by name, the kernel is right', async () => {
    vi.stubEnv('IREE_CONFIG', file('iree-config.yaml', CONFIG));
    const doctor = await wavesmith('doctor');
    expect(doctor.out).toContain('17 flags');
    for (const name of ['conv_bias_relu.mlir', 'attention.mlir']) {
      const run = await wavesmith('run', example(name));
      expect(run.out).toMatch(/^EQUAL.* beside what the operations mean, seed/m);
      const remarks = run.err.trim().split('\n');
      expect(remarks).toHaveLength(8);
      expect(remarks.filter((line) => line.endsWith('is passed instead'))).toHaveLength(7);
      expect(remarks).toContain(
        "remark: iree-compile no longer knows '--iree-codegen-gpu-native-math-precision=true'; it is left out",
      );
    }
  });

  test('iree-export from another folder: the JSON the C++ pass reads', () => {
    const shim = join(folder, 'iree-export');
    symlinkSync(join(root, 'bin', 'iree-export'), shim);
    const output = join(folder, 'iree-bin.json');
    const run = (args: string[], env: Record<string, string> = {}) =>
      spawnSync(shim, args, { encoding: 'utf8', env: { ...process.env, ...env } });
    const done = run(['-a', 'gfx942', '-f', '+sramecc,-xnack', file('tosa2.mlir', TOSA), '-o', output], {
      IREE_DEBUG: '1',
    });
    expect([done.status, done.stderr]).toEqual([0, '']);
    expect(done.stdout).toMatch(
      /^\[iree-export\]: number of kernels: 1, rocMLIR name: f, iree-metadata \[\{"sym_name":/,
    );
    const json = JSON.parse(read(output));
    const [binary] = json.binaries;
    const [kernel] = binary.$kernels;
    expect(Object.keys(binary)).toEqual(['$elf', '$kernels', kernel]);
    expect(binary[kernel]).toMatchObject({ sym_name: kernel, workgroup_memory: 0, workgroup_count: [1, 1, 1] });
    expect(readCodeObject(Uint8Array.from(Buffer.from(binary.$elf, 'hex'))).kernels.map((k) => k.name)).toEqual([
      kernel,
    ]);
    expect(json.MLIR.join('')).toContain('hal.command_buffer.dispatch');
    // A missing input and a module that does not compile: JSON with `error`, exit code 0.
    expect(run(['-a', 'gfx942', join(folder, 'absent.mlir'), '-o', output]).status).toBe(0);
    expect(JSON.parse(read(output)).error).toBe(`invalid input file: ${join(folder, 'absent.mlir')}`);
    const wrong = file('wrong2.mlir', 'module {\n  func.func @g() {\n    test.unknown\n  }\n}\n');
    const failed = run(['-a', 'gfx942', wrong, '-o', output], { IREE_DEBUG: '1' });
    expect([failed.status, JSON.parse(read(output)).error]).toEqual([0, 'invocation failed']);
    expect(failed.stdout).toBe('invocation failed\n[iree-export]: number of kernels: 0, rocMLIR name: g\n');
    // No architecture, no compiler in the folder that --iree-path names, no output.
    expect(run([wrong, '-o', output]).status).toBe(0);
    expect(JSON.parse(read(output)).error).toBe('invalid gpu arch');
    expect(run(['--iree-path', folder, '-a', 'gfx942', wrong, '-o', output]).status).toBe(0);
    expect(JSON.parse(read(output)).error).toContain('holds no iree-compile');
    expect(run(['-a', 'gfx942', wrong]).status).toBe(2);
  });

  test('a kernel that is wrong is found to differ', async () => {
    // The merged module of another function of the same arguments.
    const text = read(example('where_exp.mlir'));
    const { text: gen } = await generate(text.replace('migraphx.exp', 'migraphx.neg'), {
      arch: 'gfx942',
      features: '+sramecc,-xnack',
      environment: environment(),
    });
    const document = parseMlir(gen);
    const attribute = moduleAttribute(document, 'iree.export');
    const host = `module attributes {iree.export = ${rangeText(document, attribute?.first ?? 0, attribute?.last ?? 0)}} {
  gpu.binary @m [#gpu.object<#rocdl.target<chip = "gfx942">, bin = "">]
  func.func @host(%a: !llvm.ptr) {
    %c = arith.constant 1 : index
    gpu.launch_func @m::@r blocks in (%c, %c, %c) threads in (%c, %c, %c) args(%a : !llvm.ptr, %a : !llvm.ptr, %a : !llvm.ptr, %a : !llvm.ptr)
    return
  }
}
`;
    const merged = merge(host, environment());
    expect(merged.failure?.message).toBeUndefined();
    const run = await wavesmith('run', example('where_exp.mlir'), '--merged', file('wrong-merged.mlir', merged.text));
    expect(run.status).toBe(1);
    expect(run.out).toContain('DIFFERENT: 1 output(s) beside what the operations mean');
  });
});

describe('the dialect', () => {
  test('every operation that rocMLIR defines is lowered or says why not, and the printed table is the one in docs', async () => {
    for (const { name } of MIGRAPHX_OPERATIONS) {
      const status = operationStatus(name);
      expect([name, status?.lowered === true || (status?.why ?? '').length > 10]).toEqual([name, true]);
    }
    const listed = MIGRAPHX_OPERATIONS.map(({ name }) => `migraphx.${name}`).sort();
    const known = new Set([...Object.keys(LOWERINGS), ...Object.keys(FALLS_BACK), ...WRITTEN_OUT]);
    known.delete('arith.constant');
    expect(listed).toEqual([...known].sort());
    expect((await wavesmith('operations')).out).toBe(read(join(root, 'docs', 'migraphx-operations.md')));
    expect(JSON.parse((await wavesmith('operations', '--json')).out)).toHaveLength(MIGRAPHX_OPERATIONS.length);
  });
});

describe('setup', () => {
  test.skipIf(!ready)('all makes what setup.sh makes, each step checked, and clean undoes it', async () => {
    const made = join(folder, 'iree-rocMLIR');
    const dry = await wavesmith('setup', '--root', made, '--dry-run');
    expect(dry).toMatchObject({ status: 0, err: '' });
    expect(dry.out).toContain('would be');
    expect(existsSync(made)).toBe(false);
    const done = await wavesmith('setup', '--root', made);
    expect(done).toMatchObject({ status: 0, err: '' });
    expect(done.out.match(/^ok /gm)).toHaveLength(4);
    expect(readdirSync(join(made, 'bin')).sort()).toEqual(['iree-compile', 'iree-export', 'iree-run-module']);
    expect(read(join(made, 'setup-env.sh'))).toContain(`export IREE_BIN='${join(made, 'bin')}'`);
    expect((await wavesmith('setup', 'all', '--root', made)).out).toContain('there already');
    writeFileSync(join(made, 'mine.txt'), 'x');
    expect((await wavesmith('setup', 'clean', '--root', made)).status).toBe(0);
    expect(readdirSync(made)).toEqual(['mine.txt']);
    expect((await wavesmith('setup', 'clean', '--root', made)).out).toContain('nothing was made here');
  });

  test('without IREE a Python environment is made, also as the first step', async () => {
    const tools = join(folder, 'python');
    mkdirSync(tools);
    // Stands in for python3: -m venv DIR makes an environment whose pip makes the programs.
    const pip =
      '#!/bin/sh\nfor n in iree-compile iree-run-module; do printf "#!/bin/sh\\n" > "$(dirname "$0")/$n"; done\n';
    const python = `#!/bin/sh\nmkdir -p "$3/bin" && cat > "$3/bin/python" <<'END'\n${pip}END\nchmod +x "$3/bin/python"\n`;
    writeFileSync(join(tools, 'python3'), python, { mode: 0o755 });
    vi.stubEnv('IREE_COMPILE', join(tools, 'none'));
    vi.stubEnv('PATH', `${tools}:${process.env.PATH}`);
    try {
      const root = join(folder, 'fresh');
      expect((await wavesmith('setup', 'iree', '--root', root, '--dry-run')).out).toContain('venv: would be made');
      expect(existsSync(root)).toBe(false);
      expect(await wavesmith('setup', 'iree', '--root', root)).toMatchObject({ status: 0, err: '' });
      expect((await wavesmith('setup', 'link', '--root', root)).out).toContain(
        join(root, 'venv', 'bin', 'iree-compile'),
      );
      expect((await wavesmith('setup', 'clean', '--root', root)).out).toContain('venv: removed');
      expect(existsSync(root)).toBe(false);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test('what is not its own is neither replaced nor removed', async () => {
    const other = join(folder, 'other');
    mkdirSync(join(other, 'bin'), { recursive: true });
    const run = await wavesmith('setup', 'dirs', '--root', other);
    expect(run.status).toBe(1);
    expect(run.err).toContain('was not made by this set-up');
    writeFileSync(join(other, '.wavesmith-rocmlir.json'), '{"made": ["../../etc"]}');
    expect((await wavesmith('setup', 'clean', '--root', other)).err).toContain('is no record of this set-up');
    expect((await wavesmith('setup', 'frob')).err).toContain("invalid function: 'frob'");
  });
});

describe('wrong input', () => {
  const invalid = (): string => file('invalid.mlir', Uint8Array.of(0x6d, 0xff, 0xfe));
  const huge = (): string => file('huge.mlir', new Uint8Array(100 << 20).fill(32));
  test.each([
    ['gen', invalid, 'mlir/invalid-utf8'],
    ['gen', huge, 'mlir/too-large'],
    ['merge', invalid, 'mlir/invalid-utf8'],
    ['merge', huge, 'mlir/too-large'],
    ['compile', huge, 'mlir/too-large'],
    ['gen', () => file('cut.mlir', 'module {\n'), 'mlir/unbalanced'],
    ['merge', () => join(folder, 'absent.mlir'), 'io/read'],
  ])('%s: a typed error and no output', async (command, make, code) => {
    const output = join(folder, 'never');
    const flags = command === 'merge' ? [] : ['-a', 'gfx942'];
    const run = await wavesmith(command, make(), '-o', output, ...flags);
    expect(run).toMatchObject({ status: 1, out: '' });
    expect(run.err).toContain(`error[${code}]`);
    expect(existsSync(output)).toBe(false);
  });

  test('merge without the attribute writes the module as it was; --strict writes nothing', async () => {
    const text = 'module {\n  gpu.binary @m [#gpu.object<#rocdl.target, bin = "x">]\n}\n';
    const [input, output] = [file('plain.mlir', text), join(folder, 'plain.out.mlir')];
    const strict = await wavesmith('merge', input, '-o', output, '--strict');
    expect(strict).toMatchObject({ status: 1, out: '' });
    expect(existsSync(output)).toBe(false);
    const run = await wavesmith('merge', input, '-o', output);
    expect(run.status).toBe(0);
    expect(run.err).toContain('error[rocmlir/no-export]: failed to find the `iree.export` attribute');
    expect(read(output)).toBe(text);
  });

  test('usage', async () => {
    expect(await wavesmith()).toMatchObject({ status: 2 });
    expect((await wavesmith('--help')).out).toContain('Usage: wavesmith rocmlir SUBCOMMAND');
    expect(await wavesmith('frob')).toMatchObject({ status: 2 });
    expect(await wavesmith('gen', 'x.mlir')).toMatchObject({ status: 2 });
    expect(await wavesmith('gen', 'x.mlir', '-o', 'y', '--timeout', 'soon')).toMatchObject({ status: 2 });
  });
});
