// `wavesmith asm --engine llvm`: the same source through clang and ld.lld, with -mcpu taken from the source's own directive.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { readTargetDirective, withClassicTriple } from '../iree/engine.ts';
import { requireLlvmTool, runTool } from '../iree/tools.ts';

export interface LlvmAssembleOptions {
  /** Name of the source in messages. */
  readonly name: string;
  readonly target: string | undefined;
  /** `NAME=VALUE` texts. */
  readonly defines: readonly string[];
  readonly includes: readonly string[];
  /** Link to a shared object. */
  readonly link: boolean;
}

export interface LlvmAssembleResult {
  /** Absent when a tool failed. */
  readonly bytes?: Uint8Array;
  /** What the tools wrote, with the temporary name replaced by the source's. */
  readonly messages: string;
}

/** The target to assemble for: the directive's, the flag's, an error when both are there and differ. */
function targetOf(text: string, options: LlvmAssembleOptions): string {
  const directive = readTargetDirective(text);
  const fromFile = directive?.processorAndFeatures;
  const { target, name } = options;
  const chosen = target ?? fromFile;
  if (chosen === undefined) {
    throw new WavesmithError('asm/no-target', `'${name}' has no '.amdgcn_target' directive.`, {
      file: name,
      hint: "Name the target: '--target gfx942'.",
    });
  }
  if (target !== undefined && fromFile !== undefined && target !== fromFile) {
    throw new WavesmithError('asm/target-conflict', `'${name}' is for ${fromFile}, but --target says ${target}.`, {
      file: name,
      line: directive?.line,
      hint: `Use '--target ${fromFile}' or leave the flag out.`,
    });
  }
  return chosen;
}

/** Assembles (and links) with LLVM's programs. */
export async function assembleWithLlvm(source: Uint8Array, options: LlvmAssembleOptions): Promise<LlvmAssembleResult> {
  const text = Buffer.from(source).toString('latin1');
  const target = targetOf(text, options);
  const clang = requireLlvmTool('clang');
  const linker = options.link ? requireLlvmTool('ld.lld') : undefined;
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-asm-'));
  try {
    const input = join(folder, 'source.s');
    const object = join(folder, 'object.o');
    const image = join(folder, 'image.co');
    writeFileSync(input, Buffer.from(withClassicTriple(text), 'latin1'));
    const flags = ['-x', 'assembler', '-target', 'amdgcn-amd-amdhsa', `-mcpu=${target}`];
    const includes = options.includes.map((path) => `-I${resolve(path)}`);
    const defines = options.defines.map((define) => `-Wa,--defsym,${define.includes('=') ? define : `${define}=1`}`);
    const assembled = await runTool(clang.path, [...flags, ...includes, ...defines, '-c', input, '-o', object]);
    let messages = assembled.stderr.replaceAll(input, options.name);
    if (assembled.status !== 0) return { messages };
    if (linker === undefined) return { bytes: readFileSync(object), messages };
    const linked = await runTool(linker.path, ['-shared', object, '-o', image]);
    messages += linked.stderr.replaceAll(object, options.name);
    return linked.status === 0 ? { bytes: readFileSync(image), messages } : { messages };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
