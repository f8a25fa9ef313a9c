// Shared by the rocMLIR tests: mlir-opt of LLVM 22, host modules as rocMLIR has them before the merge, small code objects,
// stand-ins for iree-compile.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { assemble } from '../../src/asm/assemble/assemble.ts';
import { link } from '../../src/codeobject/index.ts';
import { findIreeTool } from '../../src/iree/tools.ts';
import { type RocmlirEnvironment, readEnvironment } from '../../src/rocmlir/environment.ts';
import { llvmTool } from './llvm.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is gone after the file's tests. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-rocmlir-'));
  folders.push(folder);
  return folder;
}

/** An environment with some variables set. */
export const environment = (variables: Record<string, string> = {}): RocmlirEnvironment => readEnvironment(variables);

/** True when IREE's compiler and runtime are installed; says so otherwise. */
export function hasIree(): boolean {
  const found = findIreeTool('iree-compile') !== undefined && findIreeTool('iree-run-module') !== undefined;
  if (!found) console.warn("skipped: IREE is not installed ('npm run setup' installs it)");
  return found;
}

/** Runs mlir-opt on a text; returns its output, or throws its first messages. */
export function mlirOpt(text: string, flags: readonly string[] = []): string {
  const tool = llvmTool('mlir-opt');
  if (tool === undefined) throw new Error('mlir-opt is missing');
  const run = spawnSync(tool, [...flags, '-'], { input: text, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (run.status !== 0) throw new Error(`mlir-opt ${flags.join(' ')}: ${run.stderr.slice(0, 2000)}`);
  return run.stdout;
}

/** `--gpu-module-to-binary` with LLVM 22's own linker: the pass looks for it in a ROCm installation. */
export function moduleToBinary(text: string): string {
  const mlir = llvmTool('mlir-opt');
  const linker = llvmTool('ld.lld');
  if (mlir === undefined || linker === undefined) throw new Error('LLVM 22 is missing');
  const toolkit = temporaryFolder();
  mkdirSync(join(toolkit, 'llvm'));
  symlinkSync(dirname(linker), join(toolkit, 'llvm', 'bin'));
  return mlirOpt(text, ['--split-input-file', `--gpu-module-to-binary=format=bin toolkit=${toolkit}`]);
}

/** A module as rocMLIR has it before gpu-module-to-binary: a kernel of its own with `count` pointers, and its launch. */
export function hostModule(
  count: number,
  options: { chip?: string; attribute?: string; sizes?: 'index' | 'i64' } = {},
): string {
  const { chip = 'gfx942', attribute, sizes = 'index' } = options;
  const names = Array.from({ length: count }, (_, i) => `%a${i}`);
  const typed = names.map((name) => `${name}: !llvm.ptr`).join(', ');
  const passed = names.map((name) => `${name} : !llvm.ptr`).join(', ');
  const constant = (value: number): string =>
    sizes === 'index' ? `arith.constant ${value} : index` : `llvm.mlir.constant(${value} : i64) : i64`;
  const type = sizes === 'index' ? '' : ' : i64';
  return `module attributes {gpu.container_module${attribute === undefined ? '' : `, iree.export = ${attribute}`}} {
  gpu.module @rock_module [#rocdl.target<O = 3, chip = "${chip}">] {
    llvm.func @rock_kernel(${typed}) attributes {gpu.kernel, rocdl.kernel} {
      llvm.return
    }
  }
  func.func @host(${typed}) {
    %c1 = ${constant(1)}
    %c64 = ${constant(64)}
    gpu.launch_func @rock_module::@rock_kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)${type} args(${passed})
    return
  }
}
`;
}

/** A code object with kernels that take `count` pointers and do nothing. */
export function smallElf(names: readonly string[], count: number, block: readonly number[] = [64, 1, 1]): Uint8Array {
  const text = names
    .map(
      (
        name,
      ) => `.text\n.globl ${name}\n.p2align 8\n.type ${name},@function\n${name}:\n  s_endpgm\n.size ${name}, .-${name}
.rodata
.p2align 6
.amdhsa_kernel ${name}
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
  .amdhsa_kernarg_size ${8 * count}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
`,
    )
    .join('');
  const args = Array.from(
    { length: count },
    (_, i) => `      - { .offset: ${8 * i}, .size: 8, .value_kind: global_buffer, .address_space: global }`,
  ).join('\n');
  const kernels = names
    .map(
      (name) => `  - .name: ${name}
    .symbol: ${name}.kd
    .kernarg_segment_size: ${8 * count}
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 1024
    .reqd_workgroup_size: [${block.join(', ')}]
    .args:
${args}`,
    )
    .join('\n');
  const source = `.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 5
${text}
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
${kernels}
.end_amdgpu_metadata
`;
  const { object, diagnostics } = assemble(source, { target: 'gfx942', file: 'small.s' });
  if (object === undefined) throw new Error(diagnostics.map((d) => d.message).join('\n'));
  return link([object]);
}

/** A folder with a stand-in for iree-compile that answers the questions about itself and then runs `body`. */
export function standInCompiler(body: string): string {
  const folder = temporaryFolder();
  const path = join(folder, 'iree-compile');
  writeFileSync(
    path,
    `#!/bin/sh
case "$1" in
  --version) echo '  IREE compiler version 3.13.0 @ stand-in'; exit 0 ;;
  --help|--help-hidden) echo '  --iree-rocm-target=<string> - target'; exit 0 ;;
esac
${body}
`,
  );
  chmodSync(path, 0o755);
  return folder;
}

/** The modules in examples/migraphx. */
export const examplesFolder = join(import.meta.dirname, '..', '..', 'examples', 'migraphx');

/** True when a program of LLVM 22 that the tests judge with is there. */
export const hasMlirOpt = (): boolean => llvmTool('mlir-opt') !== undefined && existsSync(examplesFolder);
