// What this machine has that Wavesmith can use, and what each thing would be used for. Looks only; changes nothing.
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { decode } from '../isa/codec/decode.ts';
import { TARGET_NAMES } from '../isa/table/target-names.ts';
import { probeCompiler } from './compiler.ts';
import { findIreeTool, findLlvmTool, LLVM_TOOLS, llvmVersion, runTool } from './tools.ts';

/** `required` and not `ok` makes the installation unusable. */
export interface Requirement {
  readonly name: string;
  readonly ok: boolean;
  readonly required: boolean;
  /** What was found, or why it is not usable. */
  readonly found: string;
  readonly path: string | null;
  readonly usedFor: string;
}

export interface DoctorReport {
  readonly ok: boolean;
  readonly findings: readonly Requirement[];
}

const LLVM_USES: Readonly<Record<(typeof LLVM_TOOLS)[number], string>> = {
  clang: "'asm --engine llvm', 'hijack --engine llvm', compiling examples, test oracle",
  'ld.lld': "'asm --engine llvm', 'hijack --engine llvm', test oracle",
  'llvm-mc': 'test oracle for the instruction codec',
  'llvm-objdump': 'test oracle for the disassembler',
  'llvm-readelf': 'test oracle for code object files',
  FileCheck: "judge of LLVM's own MC tests",
};

const MINIMUM_NODE = [20, 19];
/**
 * From this release on V8 makes better code of the virtual GPU's modules: `npm run bench sim-gemm` took 0.42 s of CPU time for f16 and 0.33
 * for FP8 in exact numerics on Node 24.21, where Node 20.20 took 0.73 and 0.46.
 */
const FAST_NODE = 24;

function node(): Requirement {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const ok = major > MINIMUM_NODE[0] || (major === MINIMUM_NODE[0] && minor >= MINIMUM_NODE[1]);
  return {
    name: 'Node',
    ok,
    required: true,
    found: ok ? process.versions.node : `${process.versions.node}, but ${MINIMUM_NODE.join('.')} or newer is needed`,
    path: process.execPath,
    usedFor:
      major < FAST_NODE
        ? `everything; Node ${FAST_NODE} takes about two thirds of the time for matrix kernels on the virtual device`
        : 'everything',
  };
}

async function llvm(): Promise<Requirement[]> {
  return Promise.all(
    LLVM_TOOLS.map(async (name) => {
      const tool = findLlvmTool(name);
      const version = tool === undefined ? undefined : await llvmVersion(tool);
      return {
        name,
        ok: tool !== undefined,
        required: false,
        found: tool === undefined ? 'not found' : `LLVM ${version ?? '(no version printed)'} (by ${tool.foundBy})`,
        path: tool?.path ?? null,
        usedFor: LLVM_USES[name],
      };
    }),
  );
}

async function ireeCompiler(): Promise<Requirement> {
  const base = { name: 'iree-compile', required: false, usedFor: "'hijack init INPUT.mlir', 'build --via compile'" };
  const tool = findIreeTool('iree-compile');
  if (tool === undefined) {
    const asked = process.env.IREE_COMPILE;
    const found = asked ? `not found (IREE_COMPILE=${asked})` : "not found ('npm run setup' installs it)";
    return { ...base, ok: false, found, path: null };
  }
  try {
    const compiler = await probeCompiler(tool);
    const found = `${compiler.version}, target flag ${compiler.targetFlag} (by ${tool.foundBy})`;
    return { ...base, ok: true, found, path: tool.path };
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return { ...base, ok: false, found: error.message, path: tool.path };
  }
}

/** Version of the iree-base-runtime wheel a tool belongs to; the tool itself prints none. */
function runtimeVersion(tool: string): string | undefined {
  const library = join(dirname(dirname(tool)), 'lib');
  for (const python of listFolder(library)) {
    for (const name of listFolder(join(library, python, 'site-packages'))) {
      const version = /^iree_base_runtime-(.+)\.dist-info$/.exec(name)?.[1];
      if (version !== undefined) return version;
    }
  }
  return undefined;
}

function listFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

async function ireeRuntime(): Promise<Requirement> {
  const tool = findIreeTool('iree-run-module');
  const run = tool === undefined ? undefined : await runTool(tool.path, ['--list_drivers'], { timeout: 20_000 });
  const drivers = [...(run?.stdout ?? '').matchAll(/^\s+([a-z][\w-]*): /gm)].map((match) => match[1]);
  const version = tool === undefined ? undefined : runtimeVersion(tool.path);
  const found =
    tool === undefined
      ? 'not found'
      : `${version ?? 'version unknown'}, drivers ${drivers.join(' ') || 'unknown'} (by ${tool.foundBy})`;
  return {
    name: 'iree-run-module',
    ok: tool !== undefined && run?.status === 0,
    required: false,
    found,
    path: tool?.path ?? null,
    usedFor: 'running whole modules on a real GPU; nothing here needs it',
  };
}

function rocm(): Requirement {
  const folder = process.env.ROCM_PATH ?? '/opt/rocm';
  let version: string | undefined;
  try {
    version = readFileSync(`${folder}/.info/version`, 'utf8').trim();
  } catch {
    // Without the version file only the folder's existence is known.
  }
  const ok = existsSync(folder);
  return {
    name: 'ROCm',
    ok,
    required: false,
    found: ok ? (version ?? 'present, version unknown') : 'not found',
    path: ok ? folder : null,
    usedFor: 'a real GPU, and its LLVM for --engine llvm; optional',
  };
}

function gpu(): Requirement {
  const base = { name: 'GPU', required: false, usedFor: 'nothing yet: kernels run on the virtual device' };
  if (!existsSync('/dev/kfd')) return { ...base, ok: false, found: 'no AMD GPU (/dev/kfd does not exist)', path: null };
  try {
    accessSync('/dev/kfd', constants.R_OK | constants.W_OK);
    return { ...base, ok: true, found: 'AMD GPU driver present', path: '/dev/kfd' };
  } catch {
    return { ...base, ok: false, found: '/dev/kfd is there but not accessible to this user', path: '/dev/kfd' };
  }
}

/** The instruction tables load and know the one instruction that every kernel ends with. */
function virtualDevice(): Requirement {
  const endProgram = new Uint8Array([0x00, 0x00, 0x81, 0xbf]);
  const broken = TARGET_NAMES.filter((target) => decode(target, endProgram)?.row.mnemonic !== 's_endpgm');
  return {
    name: 'virtual device',
    ok: broken.length === 0,
    required: true,
    found:
      broken.length === 0
        ? `'sim', built in: ${TARGET_NAMES.join(', ')}`
        : `the instruction tables of ${broken.join(', ')} are damaged`,
    path: null,
    usedFor: "'run' and 'hijack run'",
  };
}

/** Looks at everything. Never throws for something missing. */
export async function examine(): Promise<DoctorReport> {
  const [tools, compiler, runtime] = await Promise.all([llvm(), ireeCompiler(), ireeRuntime()]);
  const findings = [node(), virtualDevice(), ...tools, compiler, runtime, rocm(), gpu()];
  return { ok: findings.every((f) => f.ok || !f.required), findings };
}
