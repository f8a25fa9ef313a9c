// Builds code objects with LLVM 22 at test time: C, assembly text, linking. Undefined when the tools are not installed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { llvmTool } from './llvm.ts';

/** Runs `body` with a fresh folder that is removed afterwards. */
export function withFolder<T>(body: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-'));
  try {
    return body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(tool: string, args: readonly string[]): string {
  const path = llvmTool(tool);
  if (path === undefined) throw new Error(`${tool} is missing`);
  const result = spawnSync(path, args, { encoding: 'utf8', maxBuffer: 1 << 30 });
  if (result.status !== 0) throw new Error(`${tool} ${args.join(' ')} failed:\n${result.stderr.slice(0, 4000)}`);
  return result.stdout;
}

/** True when the tools that this file runs are installed; says what is missing otherwise. */
export function hasLlvm(): boolean {
  return ['clang-22', 'ld.lld', 'llvm-objdump'].every((tool) => llvmTool(tool) !== undefined);
}

/** Compiles C to a relocatable object for a target id such as `gfx942:xnack-`. */
export function compileC(source: string, target: string, flags: readonly string[]): Uint8Array {
  return withFolder((folder) => {
    const input = join(folder, 'input.c');
    const output = join(folder, 'output.o');
    writeFileSync(input, source);
    const common = ['-target', 'amdgcn-amd-amdhsa', `-mcpu=${target}`, '-nogpulib', '-ffreestanding', '-w'];
    run('clang-22', [...common, ...flags, '-c', input, '-o', output]);
    return readFileSync(output);
  });
}

/** Compiles a file as the comments at the head of examples/*.c say: to a linked code object. */
export function compileExample(file: string, target: string, level: number): Uint8Array {
  return withFolder((folder) => {
    const output = join(folder, 'output.co');
    run('clang-22', ['-target', 'amdgcn-amd-amdhsa', `-mcpu=${target}`, '-nogpulib', `-O${level}`, file, '-o', output]);
    return readFileSync(output);
  });
}

/** Assembles text with clang to a relocatable object. */
export function assembleWithClang(text: string, target: string): Uint8Array {
  return withFolder((folder) => {
    const input = join(folder, 'input.s');
    const output = join(folder, 'output.o');
    writeFileSync(input, text);
    run('clang-22', ['-x', 'assembler', '-target', 'amdgcn-amd-amdhsa', `-mcpu=${target}`, '-c', input, '-o', output]);
    return readFileSync(output);
  });
}

/** Links relocatable objects with ld.lld to a shared object. */
export function linkWithLld(objects: readonly Uint8Array[], flags: readonly string[] = []): Uint8Array {
  return withFolder((folder) => {
    const inputs = objects.map((bytes, i) => {
      const path = join(folder, `input${i}.o`);
      writeFileSync(path, bytes);
      return path;
    });
    const output = join(folder, 'output.co');
    run('ld.lld', ['-shared', ...flags, ...inputs, '-o', output]);
    return readFileSync(output);
  });
}

/** An instruction line of llvm-objdump: `address<TAB>words<TAB>text`, all as `disasm --listing` prints it. */
export function objdumpListing(codeObject: Uint8Array): string[] {
  return withFolder((folder) => {
    const input = join(folder, 'input.co');
    writeFileSync(input, codeObject);
    const lines: string[] = [];
    for (const line of run('llvm-objdump', ['-d', '-z', input]).split('\n')) {
      const match = /^\t(.*?)\s*\/\/ ([0-9A-F]+): ([0-9A-F ]+?)(?: <.*>)?$/.exec(line);
      if (match !== null) lines.push(`${match[2].toLowerCase()}\t${match[3].toLowerCase()}\t${match[1]}`);
    }
    return lines;
  });
}
