// Files of hooks: compiled with clang for every target, or compiled already.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, extname, join, resolve } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import { hookProbe, type ProbeDefinition, readHooks } from '../../instrument/index.ts';
import { packageRoot } from '../../iree/index.ts';
import { requireLlvmTool, runTool } from '../../iree/tools.ts';
import { TARGET_NAMES } from '../../isa/index.ts';
import { readInput } from '../support.ts';

/** The probe of a file. Errors: `probe/hook`, `probe/source` with what clang says. */
export async function loadHooks(file: string): Promise<ProbeDefinition> {
  const bytes = readInput(file);
  const name = basename(file, extname(file));
  if (file.endsWith('.o')) return hookDefinition([bytes], file, name);
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-hook-'));
  try {
    const files = await Promise.all(
      TARGET_NAMES.map(async (target) => compiled(file, target, join(folder, `${target}.o`))),
    );
    return hookDefinition(files, file, name);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function hookDefinition(objects: readonly Uint8Array[], file: string, name: string): ProbeDefinition {
  const hash = createHash('sha256');
  for (const object of objects) hash.update(object);
  const probe = hookProbe(
    objects.map((object) => readHooks(object, file)),
    name,
  );
  return { ...(probe as unknown as ProbeDefinition), source: `hooks ${hash.digest('hex')}` };
}

async function compiled(file: string, target: string, output: string): Promise<Uint8Array> {
  const include = join(packageRoot() ?? '.', 'native', 'hook');
  const args = [
    ...['-x', 'c++', '-std=c++17', '--target=amdgcn-amd-amdhsa', `-mcpu=${target}`, '-nogpulib', '-ffreestanding'],
    // A hook is put into kernels without a stack: what it calls is part of it, whatever its source says, and however large.
    ...['-Dnoinline=always_inline', '-D__noinline__=__always_inline__', '-mllvm', '-amdgpu-function-calls=0'],
    ...['-O3', '-fno-exceptions', '-fno-rtti', '-I', include, '-c', resolve(file), '-o', output],
  ];
  const { status, stderr } = await runTool(requireLlvmTool('clang').path, args);
  if (status === 0) return readFileSync(output);
  const { message, line, column } = firstError(stderr, resolve(file));
  throw new WavesmithError('probe/source', `The hooks cannot be compiled: ${message}.`, { file, line, column });
}

interface CompileError {
  readonly message: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
}

/** What clang says first; of an error in a header the place in the file that asked for it, where clang names one. */
function firstError(stderr: string, file: string): CompileError {
  const said = [...stderr.matchAll(/^(.*?):(\d+):(\d+): (?:fatal )?(error|note): (.*)$/gm)];
  const at = said.findIndex(([, , , , kind]) => kind === 'error');
  const message = said[at]?.[5] ?? stderr.trim();
  const end = said.findIndex(([, , , , kind], i) => i > at && kind === 'error');
  const own = said.slice(Math.max(0, at), end < 0 ? undefined : end).find(([, path]) => path === file);
  const number = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
  return { message, line: number(own?.[2]), column: number(own?.[3]) };
}
