// Every mistake that people make when replacing a kernel, and the text that tells them. No compiler needed: outside programs
// are played by small scripts where a particular (mis)behaviour of theirs is the point.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { WavesmithError } from '../src/base/index.ts';
import { build } from '../src/iree/build.ts';
import { assembleWithWavesmith } from '../src/iree/engine.ts';
import { readFacts } from '../src/iree/facts.ts';
import { readManifest } from '../src/iree/manifest.ts';
import { run } from '../src/iree/run.ts';
import { verifyReplacement } from '../src/iree/verify.ts';
import { asmFile, BUILD, edit, fixtureFolder, KERNEL, RUN, standIn, temporaryFolder } from './hijack-support.ts';

const environment = { ...process.env };
afterEach(() => {
  for (const name of ['ROCM_LLVM', 'IREE_COMPILE']) {
    if (environment[name] === undefined) delete process.env[name];
    else process.env[name] = environment[name];
  }
});

/** The whole message a user sees, without the folder's path. */
async function message(work: Promise<unknown>, folder: string): Promise<string> {
  const error = await work.then(
    () => undefined,
    (e: unknown) => e,
  );
  if (!(error instanceof WavesmithError)) throw error ?? new Error('there was no error');
  return error.format().replaceAll(folder, 'DIR');
}

describe('mistakes in the assembly', () => {
  const table: [string, [RegExp | string, string], string][] = [
    [
      'features mismatch',
      ['unknown-gfx942"', 'unknown-gfx942:sramecc+:xnack-"'],
      `DIR/asm/matmul_dispatch_0.s:4: error[hijack/target-mismatch]: The assembly is for gfx942:sramecc+:xnack-, the module's code is for gfx942; the runtime would refuse to load it.
  hint: Keep .amdgcn_target as the compiler wrote it (…gfx942), or compile the baseline for the other target.`,
    ],
    [
      'another GPU',
      ['unknown-gfx942"', 'unknown-gfx90a"'],
      `DIR/asm/matmul_dispatch_0.s:4: error[hijack/target-mismatch]: The assembly is for gfx90a, the module's code is for gfx942; the runtime would refuse to load it.
  hint: Keep .amdgcn_target as the compiler wrote it (…gfx942), or compile the baseline for the other target.`,
    ],
    [
      'changed .kd name',
      [new RegExp(KERNEL, 'g'), 'my_matmul'],
      `DIR/asm/matmul_dispatch_0.s:464: error[hijack/kernel-name]: The edited code has no kernel '${KERNEL}' (no symbol '${KERNEL}.kd'); it has 'my_matmul'.
  hint: The module looks kernels up by name: keep the label, .amdhsa_kernel and the metadata’s .name and .symbol.`,
    ],
    [
      'metadata of another kernel',
      [/\.symbol: .*/, '.symbol: other.kd'],
      `error[hijack/no-metadata]: The metadata of the edited code does not list kernel '${KERNEL}' with .symbol '${KERNEL}.kd'.`,
    ],
    [
      'stale VGPR count',
      [/^\tv_mfma_/m, '\tv_mov_b32_e32 v100, 0\n$&'],
      `error[hijack/register-count]: Kernel '${KERNEL}' uses v100, but its descriptor allocates only 72 VGPRs.
  hint: Raise .amdhsa_accum_offset to 104 and .amdhsa_next_free_vgpr accordingly, and .vgpr_count.`,
    ],
    [
      'accum_offset below the VGPRs in use',
      [/(\.amdhsa_accum_offset) \d+/, '$1 16'],
      `error[hijack/register-count]: Kernel '${KERNEL}' uses v68, but its descriptor allocates only 16 VGPRs.
  hint: Raise .amdhsa_accum_offset to 72 and .amdhsa_next_free_vgpr accordingly, and .vgpr_count.`,
    ],
    [
      'broken 256-byte preload alignment: no alignment behind the first block',
      [/(s_branch \.LBB0_0\n)\t\.p2align\t8\n/, '$1'],
      `DIR/asm/matmul_dispatch_0.s:10: error[hijack/preload-alignment]: Kernel '${KERNEL}' would start at the wrong place: it preloads 6 SGPRs, so execution starts 256 bytes after the label, but the code behind the first block is at 24.
  hint: Keep .p2align 8 before the kernel’s label and after the first block (loads, s_waitcnt, s_branch): with preloaded arguments the hardware starts 256 bytes after the label.`,
    ],
    [
      'broken 256-byte preload alignment: code between the alignment and its label',
      [/^\.LBB0_0:/m, '\ts_nop 0\n$&'],
      'so execution starts 256 bytes after the label, but the code behind the first block is at 260.',
    ],
    [
      'broken 256-byte preload alignment: the branch is gone',
      [/^\ts_branch \.LBB0_0/m, '\ts_nop 0'],
      'the first 256 bytes have no s_branch to the code behind them.',
    ],
    [
      'other kernarg size',
      [/(\.amdhsa_kernarg_size) 24/, '$1 32'],
      `error[hijack/kernarg-layout]: The kernarg segment of kernel '${KERNEL}' is 32 bytes, but the module passes 24.`,
    ],
    [
      'other argument layout',
      [/(\.offset: +)8\n/, '$116\n'],
      `error[hijack/kernarg-layout]: Argument 1 of kernel '${KERNEL}' is global_buffer of 8 bytes at 16, but the module passes global_buffer of 8 bytes at 8.`,
    ],
    [
      'other workgroup size (assembly of a compilation with other flags)',
      [/(\.reqd_workgroup_size:\n +- )256/, '$1128'],
      `error[hijack/workgroup-size]: Kernel '${KERNEL}' requires workgroups of 128×1×1, but the module launches 256×1×1.`,
    ],
    [
      'workgroups too small',
      [/(\.max_flat_workgroup_size: )256/, '$164'],
      `error[hijack/workgroup-size]: Kernel '${KERNEL}' allows 64 work-items per workgroup, but the module launches 256.`,
    ],
    [
      'more LDS than there is',
      [/(\.amdhsa_group_segment_fixed_size) 50688/, '$1 70000'],
      `error[hijack/lds-limit]: Kernel '${KERNEL}' asks for 70000 bytes of LDS; gfx942 has 65536 per workgroup.`,
    ],
    ['a typing error', [/^\ts_barrier$/m, '\ts_barier'], 'error[hijack/assemble]:'],
  ];
  test.each(table)('%s', async (_title, [pattern, replacement], text) => {
    const folder = fixtureFolder();
    edit(asmFile(folder), pattern, replacement);
    expect(await message(build(folder, BUILD), folder)).toContain(text);
    expect(existsSync(join(folder, 'modified.vmfb'))).toBe(false);
  });

  test('stale AGPR count', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), /^\tv_mfma_/m, '\tv_accvgpr_write_b32 a200, 0\n$&');
    expect(await message(build(folder, BUILD), folder)).toContain(
      `error[hijack/register-count]: Kernel '${KERNEL}' uses a200, but its descriptor allocates only 192 AGPRs.
  hint: Raise .amdhsa_next_free_vgpr to 273, and .vgpr_count.`,
    );
  });

  test('stale SGPR count', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), /(\.amdhsa_next_free_sgpr) \d+/, '$1 8');
    edit(asmFile(folder), /^\tv_mfma_/m, '\ts_mov_b32 s40, 0\n$&');
    expect(await message(build(folder, BUILD), folder)).toContain(
      `error[hijack/register-count]: Kernel '${KERNEL}' uses s40, but its descriptor allocates only 16 SGPRs.
  hint: Raise .amdhsa_next_free_sgpr to 41, and .sgpr_count.`,
    );
  });

  test('registers for a workgroup that no compute unit can hold', async () => {
    const text = readFileSync(asmFile(fixtureFolder()), 'utf8')
      .replace(/(\.reqd_workgroup_size:\n +- )256/, '$11024')
      .replace(/(\.max_flat_workgroup_size: )256/, '$11024');
    const facts = readFacts(
      (await assembleWithWavesmith({ main: { path: 'x.s', text }, included: [] }, 'gfx942')).code,
    );
    const contract = { name: KERNEL, workgroupSize: [1024, 1, 1] as const };
    expect(() =>
      verifyReplacement(facts, facts, [contract], { main: { path: 'x.s', text }, included: [] }),
    ).toThrowError(
      expect.objectContaining({
        code: 'hijack/does-not-fit',
        message:
          `A workgroup of 1024 work-items of kernel '${KERNEL}' cannot start: with 264 vector registers a compute unit holds ` +
          '4 wavefronts, the workgroup has 16.',
        hint: 'Use at most 128 vector registers (VGPRs and AGPRs together).',
      }),
    );
  });

  test('stale counts in the metadata are remarks, because only tools read them', async () => {
    const folder = fixtureFolder();
    const asm = asmFile(folder);
    edit(asm, /(\.vgpr_count: +)\d+/, '$17');
    edit(asm, /(\.group_segment_fixed_size: )\d+/, '$1512');
    edit(asm, /^\tv_mfma_/m, '\ts_nop 0\n$&');
    expect((await build(folder, BUILD)).executables[0].remarks).toEqual([
      `kernel '${KERNEL}': metadata .group_segment_fixed_size is 512, the descriptor's is 50688; set both.`,
      `kernel '${KERNEL}': metadata .vgpr_count says 7, the code uses v68; profilers read it.`,
    ]);
  });

  test('an edit in the block that preloading hardware skips is remarked on', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), /^\ts_waitcnt lgkmcnt\(0\)\n\ts_branch/m, '\ts_nop 0\n$&');
    expect((await build(folder, BUILD)).executables[0].remarks[0]).toBe(
      `kernel '${KERNEL}': the instructions before the second .p2align 8 changed; hardware that preloads arguments never executes them. Edit below the label behind it.`,
    );
  });

  describe('what the checker finds stops the build', () => {
    const table: [string, [RegExp | string, string], RegExp][] = [
      [
        'a wait that was taken out',
        [/^\ts_waitcnt vmcnt\(0\)\n/m, ''],
        /^DIR\/asm\/matmul_dispatch_0\.s:\d+: error\[hijack\/check\]: waits\/read-before-return: .* known to have returned\. At '\w+ .*\n {2}hint: Insert s_waitcnt vmcnt\(\d+\) before '.*'\. 'wavesmith check DIR\/asm\/matmul_dispatch_0\.s' shows everything; --force builds anyway\.$/,
      ],
      [
        'a hazard no-op that was lost',
        [/^\ts_nop 2\n(\tds_read_u16 v38)/m, '$1'],
        /error\[hijack\/check\]: hazards\/matrix-\w+: .*\n {2}hint: Insert s_nop \d+/,
      ],
    ];
    test.each(table)('%s', async (_title, [pattern, replacement], text) => {
      const folder = fixtureFolder();
      edit(asmFile(folder), pattern, replacement);
      expect(await message(build(folder, BUILD), folder)).toMatch(text);
      expect(existsSync(join(folder, 'modified.vmfb'))).toBe(false);
      const forced = await build(folder, { ...BUILD, force: true });
      expect(forced.executables[0].remarks.join('\n')).toMatch(/^forced past line \d+: error\[/m);
      expect(forced.executables[0].findings[0]).toMatchObject({ severity: 'error', line: expect.any(Number) });
    });
  });

  test('--force builds past a failed check and says which; a missing kernel cannot be forced', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), /(\.amdhsa_accum_offset) \d+/, '$1 16');
    const { executables } = await build(folder, { ...BUILD, force: true });
    expect(executables[0].remarks[0]).toMatch(/^forced past hijack\/register-count: /);
    edit(asmFile(folder), new RegExp(KERNEL, 'g'), 'renamed');
    await expect(build(folder, { ...BUILD, force: true })).rejects.toMatchObject({ code: 'hijack/kernel-name' });
  });

  test('an emptied or deleted file', async () => {
    const folder = fixtureFolder();
    writeFileSync(asmFile(folder), '\n');
    await expect(build(folder, BUILD)).rejects.toMatchObject({ code: 'hijack/empty' });
    rmSync(asmFile(folder));
    await expect(build(folder, BUILD)).rejects.toMatchObject({ code: 'io/read' });
  });
});

describe('stale folders', () => {
  test('a baseline that is not the one the assembly came from', async () => {
    const folder = fixtureFolder();
    const path = join(folder, 'baseline.vmfb');
    const bytes = readFileSync(path);
    bytes[bytes.length - 1] ^= 1;
    writeFileSync(path, bytes);
    expect(await message(build(folder, BUILD), folder)).toBe(
      `DIR/baseline.vmfb: error[hijack/stale-baseline]: 'DIR/baseline.vmfb' is not the module that manifest.json describes.
  hint: The assembly must come from the same compilation as the baseline: run hijack init again and redo the edit.`,
    );
  });

  test('an input that changed since the baseline was compiled', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), /^\tv_mfma_/m, '\ts_nop 0\n$&');
    edit(join(folder, 'input', 'matmul_f16.mlir'), '0.0', '1.0');
    expect(await message(build(folder, { ...BUILD, via: 'compile' }), folder)).toContain(
      `error[hijack/stale-input]: 'DIR/input/matmul_f16.mlir' is not the input that the baseline was compiled from.`,
    );
  });

  test('a folder that is none, a manifest that is none', async () => {
    const folder = temporaryFolder();
    expect(await message(build(folder, BUILD), folder)).toContain(
      "error[hijack/no-folder]: 'DIR' is not a hijack folder",
    );
    writeFileSync(join(folder, 'manifest.json'), '{"format":');
    await expect(build(folder, BUILD)).rejects.toMatchObject({ code: 'hijack/bad-manifest' });
  });

  test('no value in the manifest can crash reading, building or running, or lead out of the folder', async () => {
    const folder = fixtureFolder();
    const path = join(folder, 'manifest.json');
    const text = readFileSync(path, 'utf8');
    const wrong: unknown[] = [null, 0, -1, 1.5, '', '../../etc/passwd', '/etc/passwd', [], {}, true];
    const paths: (string | number)[][] = [];
    const walk = (value: unknown, at: (string | number)[]): void => {
      if (at.length > 0) paths.push(at);
      if (Array.isArray(value)) for (const [i, item] of value.entries()) walk(item, [...at, i]);
      else if (typeof value === 'object' && value !== null)
        for (const [k, v] of Object.entries(value)) walk(v, [...at, k]);
    };
    walk(JSON.parse(text), []);
    let refused = 0;
    const accepted: string[] = [];
    for (const at of paths) {
      for (const replacement of wrong) {
        const document = JSON.parse(text);
        let parent = document;
        for (const key of at.slice(0, -1)) parent = parent[key];
        parent[at[at.length - 1]] = replacement;
        writeFileSync(path, JSON.stringify(document));
        try {
          const manifest = readManifest(folder);
          for (const name of [manifest.baseline.file, ...manifest.executables.map((e) => e.asm)]) {
            expect(name).not.toMatch(/\.\.|^\//);
          }
          accepted.push(JSON.stringify(document));
        } catch (error) {
          if (!(error instanceof WavesmithError)) throw error;
          expect(error.code).toBe('hijack/bad-manifest');
          refused++;
        }
      }
    }
    expect(refused).toBeGreaterThan(200);
    // What passes the reader must not crash what comes after it either; every ninth keeps this short.
    const idle: typeof RUN.openDevice = async (target) => {
      const device = await RUN.openDevice(target, false);
      device.dispatch = async () => ({ instructions: 0, wavefronts: 0, workgroups: 0, instructionsByEncoding: {} });
      return device;
    };
    for (const document of accepted.filter((_, i) => i % 9 === 0)) {
      writeFileSync(path, document);
      for (const work of [() => build(folder, BUILD), () => run(folder, { ...RUN, all: true, openDevice: idle })]) {
        const error = await work().then(
          () => undefined,
          (e: unknown) => e,
        );
        expect(error === undefined || error instanceof WavesmithError ? '' : String(error)).toBe('');
      }
    }
  });

  test('running before building', async () => {
    const folder = fixtureFolder();
    expect(await message(run(folder, RUN), folder)).toBe(
      `error[hijack/no-modified]: There is no 'DIR/modified.vmfb' to compare with.
  hint: Build it with 'wavesmith hijack build DIR'.`,
    );
  });

  test('buffers that no run could hold', async () => {
    const folder = fixtureFolder();
    await build(folder, BUILD);
    const buffers = new Map([[1, { bytes: 2 ** 40, elementType: undefined }]]);
    expect(await message(run(folder, { ...RUN, all: true, buffers }), folder)).toContain(
      `error[hijack/too-large]: The buffers of kernel '${KERNEL}' are ${2 ** 40 + 32768 + 65536} bytes together; the limit is 536870912.`,
    );
  });

  test('a dispatch that does not exist', async () => {
    const folder = fixtureFolder();
    await build(folder, BUILD);
    expect(await message(run(folder, { ...RUN, dispatches: ['nope'] }), folder)).toBe(
      `error[hijack/no-such-dispatch]: There is no kernel or executable 'nope'.\n  hint: There are: ${KERNEL}.`,
    );
  });
});

describe('outside programs that misbehave', () => {
  /** An iree-compile of the manifest's version whose compile step is `body`; $out is what follows -o. */
  function compiler(folder: string, body: string, version = readManifest(folder).compiler?.version): string {
    return standIn(
      folder,
      'iree-compile-stand-in',
      `case "$1" in
--version) echo "  IREE compiler version ${version}"; exit 0;;
--help) echo "  --iree-rocm-target=<string>"; exit 0;;
esac
while [ $# -gt 0 ]; do [ "$1" = -o ] && out="$2"; shift; done
${body}`,
    );
  }

  function edited(): string {
    const folder = fixtureFolder();
    edit(asmFile(folder), /^\tv_mfma_/m, '\ts_nop 0\n$&');
    return folder;
  }

  const viaCompile = { ...BUILD, via: 'compile' } as const;
  const NOTE = 'NOTE: hal.executable `matmul_dispatch_0` substituted with object file at `0.hsaco`';

  test('silent non-substitution: a warning and exit code 0', async () => {
    const folder = edited();
    process.env.IREE_COMPILE = compiler(
      folder,
      `cp "${folder}/baseline.vmfb" "$out"
echo 'WARNING: iree-hal-substitute-executables could not perform the requested substitution as the executable \`matmul_dispatch_0\` was not found in the module' >&2`,
    );
    expect(await message(build(folder, viaCompile), folder)).toBe(
      `error[hijack/not-substituted]: Nothing was substituted: the module has no executable 'matmul_dispatch_0' (iree-compile only warns about this, and exits 0).
  hint: The module’s executables are: matmul_dispatch_0.`,
    );
    expect(existsSync(join(folder, 'modified.vmfb'))).toBe(false);
  });

  test('silent non-substitution: no word at all', async () => {
    const folder = edited();
    process.env.IREE_COMPILE = compiler(folder, `cp "${folder}/baseline.vmfb" "$out"`);
    expect(await message(build(folder, viaCompile), folder)).toContain(
      "Nothing was substituted: iree-compile did not confirm that 'matmul_dispatch_0' was replaced",
    );
  });

  test('a confirmed substitution that is not in the result is found by reopening it', async () => {
    const folder = edited();
    process.env.IREE_COMPILE = compiler(folder, `cp "${folder}/baseline.vmfb" "$out"; echo '${NOTE}' >&2`);
    expect(await message(build(folder, viaCompile), folder)).toContain(
      `error[hijack/not-proven]: 'modified.vmfb' was reopened and does not hold the edit: the code object of kernel '${KERNEL}' is not the assembled one.`,
    );
    expect(existsSync(join(folder, 'modified.vmfb'))).toBe(false);
  });

  test('another compiler than the baseline’s', async () => {
    const folder = edited();
    const { version } = readManifest(folder).compiler ?? { version: '' };
    process.env.IREE_COMPILE = compiler(folder, 'exit 1', '3.10.0 @ 0000000');
    expect(await message(build(folder, viaCompile), folder)).toBe(
      `error[hijack/other-compiler]: The baseline was compiled by IREE ${version}, but iree-compile is 3.10.0 @ 0000000.
  hint: Set IREE_COMPILE to the compiler of the baseline, run hijack init again, or use --via patch.`,
    );
  });

  test('wrong assembler LLVM: one that does not know the target', async () => {
    const folder = edited();
    process.env.ROCM_LLVM = temporaryFolder();
    // What clang 14 answers to -mcpu=gfx942.
    standIn(
      process.env.ROCM_LLVM,
      'clang',
      `if [ "$1" = --version ]; then echo "clang version 14.0.6"; exit 0; fi
echo "clang: error: unsupported argument 'gfx942' to option '-mcpu='" >&2; exit 1`,
    );
    standIn(process.env.ROCM_LLVM, 'ld.lld', 'exit 1');
    const text = await message(build(folder, { ...BUILD, engine: 'llvm' }), process.env.ROCM_LLVM);
    expect(text).toContain(
      "error[hijack/assembler-llvm]: The assembler 'DIR/clang' (LLVM 14.0.6) cannot assemble for gfx942: clang: error: unsupported argument 'gfx942' to option '-mcpu='",
    );
    expect(text).toContain('hint: Use --engine wavesmith, or point ROCM_LLVM at an LLVM that knows this target');
  });

  test('a missing linker', async () => {
    const folder = edited();
    process.env.ROCM_LLVM = temporaryFolder();
    standIn(process.env.ROCM_LLVM, 'clang', 'exit 0');
    expect(await message(build(folder, { ...BUILD, engine: 'llvm' }), process.env.ROCM_LLVM)).toBe(
      `error[tools/llvm-not-found]: LLVM's 'ld.lld' was not found in $ROCM_LLVM (DIR).
  hint: Set ROCM_LLVM to a folder that holds ld.lld, or unset it.`,
    );
  });
});
