// What the rocMLIR integration finds on this machine and what each part is for. Looks only; changes nothing.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { probeCompiler } from '../iree/compiler.ts';
import type { DoctorReport, Requirement } from '../iree/doctor.ts';
import { findIreeTool, findOnPath, isExecutableFile, packageRoot } from '../iree/tools.ts';
import {
  describeFlag,
  findCompiler,
  knownFlags,
  type RocmlirEnvironment,
  readConfig,
  resolveFlags,
} from './environment.ts';

async function compiler(environment: RocmlirEnvironment): Promise<Requirement> {
  const base = { name: 'iree-compile', required: true, usedFor: 'rocmlir gen, export, compile, run' };
  try {
    const tool = findCompiler(environment);
    const probed = await probeCompiler(tool);
    return { ...base, ok: true, found: `${probed.version} (by ${tool.foundBy})`, path: tool.path };
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return { ...base, ok: false, found: error.message, path: null };
  }
}

async function config(environment: RocmlirEnvironment): Promise<Requirement[]> {
  if (environment.config === undefined) return [];
  const base = {
    name: 'IREE_CONFIG',
    required: true,
    usedFor: 'extra flags of iree-compile',
    path: environment.config,
  };
  try {
    const flags = readConfig(environment.config);
    const { notes } = resolveFlags(flags, await knownFlags(findCompiler(environment)));
    const changes = notes.map(describeFlag).join('; ');
    return [{ ...base, ok: true, found: `${flags.length} flags${changes === '' ? '' : `; ${changes}`}` }];
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return [{ ...base, ok: false, found: error.message }];
  }
}

function program(name: string, path: string | undefined, usedFor: string, missing: string): Requirement {
  return {
    name,
    ok: path !== undefined,
    required: false,
    found: path === undefined ? missing : 'present',
    path: path ?? null,
    usedFor,
  };
}

/** Looks at everything the integration uses. */
export async function examineRocmlir(environment: RocmlirEnvironment): Promise<DoctorReport> {
  const root = packageRoot();
  const shim = root === undefined ? undefined : join(root, 'bin', 'iree-export');
  const mlirOpt = ['/usr/lib/llvm-22/bin/mlir-opt'].find(isExecutableFile) ?? findOnPath('mlir-opt-22');
  const findings: Requirement[] = [
    await compiler(environment),
    ...(await config(environment)),
    program(
      'iree-run-module',
      findIreeTool('iree-run-module')?.path,
      'rocmlir run: the reference on the CPU',
      "not found ('npm run setup' installs it)",
    ),
    program(
      'iree-export',
      shim !== undefined && existsSync(shim) ? shim : findOnPath('iree-export'),
      "the original C++ pass: link it into IREE_BIN, or put this folder's bin on PATH",
      'not found beside this package',
    ),
    program(
      'mlir-opt',
      mlirOpt,
      'judge of the outputs in the tests; nothing else',
      "not found ('npm run setup' installs it)",
    ),
    program(
      'migraphx-driver',
      findOnPath('migraphx-driver'),
      'only the original driver on a real GPU; nothing here needs it',
      'not found, not needed',
    ),
  ];
  if (environment.disabled) {
    findings.push({
      name: 'IREE_DISABLE',
      ok: true,
      required: false,
      found: 'set: gen and merge leave every module as it is',
      path: null,
      usedFor: 'switching the integration off',
    });
  }
  return { ok: findings.every((finding) => finding.ok || !finding.required), findings };
}
