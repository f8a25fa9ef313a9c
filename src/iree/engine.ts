// From edited assembly text to a loadable code object, through this project's assembler or through clang + ld.lld.
// The link line is IREE's own (`ld.lld -shared`, compiler/plugins/target/ROCM/ROCMTargetUtils.cpp).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { disassembleCodeObject } from '../asm/disassemble.ts';
import { WavesmithError } from '../base/index.ts';
import { readWhole, withTemporaryFolder } from './files.ts';
import { llvmVersion, requireLlvmTool, runTool } from './tools.ts';

export type EngineName = 'wavesmith' | 'llvm';

/** What a file's `.amdgcn_target` says. */
export interface TargetDirective {
  /** `gfx942`. */
  readonly processor: string;
  /** `gfx942:sramecc+:xnack-`: what -mcpu must be. */
  readonly processorAndFeatures: string;
  readonly line: number;
}

const TRIPLE = String.raw`(?:amdgcn|amdgpu[\w.]*)-[^-"]*-[^-"]*-[^-"]*-`;
const DIRECTIVE = new RegExp(String.raw`^(\s*\.amdgcn_target\s+")${TRIPLE}(gfx[\w-]+)((?::\w+[+-])*)(")`);
const METADATA_TARGET = new RegExp(String.raw`^(\s*amdhsa\.target:\s*['"]?)${TRIPLE}(gfx[\w-]+(?::\w+[+-])*)`);

/** Finds the `.amdgcn_target` of an assembly text; LLVM's triples before and from release 24 are understood. */
export function readTargetDirective(text: string): TargetDirective | undefined {
  const lines = text.split('\n');
  for (let i = 0; i < lines.length; i++) {
    const match = DIRECTIVE.exec(lines[i]);
    if (match !== null) return { processor: match[2], processorAndFeatures: match[2] + match[3], line: i + 1 };
  }
  return undefined;
}

/** The kernels an assembly text defines (`.amdhsa_kernel`), in order. */
export function kernelNamesOf(text: string): string[] {
  return [...text.matchAll(/^\s*\.amdhsa_kernel\s+(?:"([^"\n]+)"|([^"\s;/]+))/gm)].map((match) => match[1] ?? match[2]);
}

/** Spells triples the way LLVM up to 23 does, on the two lines that carry one; all other lines stay as they are. */
export function withClassicTriple(text: string): string {
  return text
    .split('\n')
    .map((line) =>
      line.replace(DIRECTIVE, '$1amdgcn-amd-amdhsa--$2$3$4').replace(METADATA_TARGET, '$1amdgcn-amd-amdhsa--$2'),
    )
    .join('\n');
}

/** Assembles with `clang` and links with `ld.lld`; only LLVM's first diagnostic is reported, the rest are its echoes. */
export async function assembleWithLlvm(text: string, file: string, processorAndFeatures: string): Promise<Uint8Array> {
  const clang = requireLlvmTool('clang');
  const linker = requireLlvmTool('ld.lld');
  return withTemporaryFolder(async (folder) => {
    const source = join(folder, 'source.s');
    const object = join(folder, 'object.o');
    const image = join(folder, 'image.hsaco');
    writeFileSync(source, withClassicTriple(text));
    const flags = ['-x', 'assembler', '-target', 'amdgcn-amd-amdhsa', `-mcpu=${processorAndFeatures}`];
    const assembled = await runTool(clang.path, [...flags, '-c', source, '-o', object]);
    if (assembled.status !== 0) {
      const match = /:(\d+):(\d+): (?:fatal )?error: (.*)/.exec(assembled.stderr);
      const version = (await llvmVersion(clang)) ?? 'of unknown version';
      if (match === null || /invalid target|unknown target|unsupported argument|target id/i.test(match[3])) {
        const first = match?.[3] ?? assembled.stderr.split('\n').find((line) => /error/.test(line)) ?? assembled.stderr;
        throw new WavesmithError(
          'hijack/assembler-llvm',
          `The assembler '${clang.path}' (LLVM ${version}) cannot assemble for ${processorAndFeatures}: ${first.trim()}`,
          {
            file,
            line: match === null ? undefined : Number(match[1]),
            hint: 'Use --engine wavesmith, or point ROCM_LLVM at an LLVM that knows this target (gfx950 needs 20 or newer).',
          },
        );
      }
      throw new WavesmithError('hijack/assemble', `${sentence(match[3])} (clang ${version})`, {
        file,
        line: Number(match[1]),
        column: Number(match[2]),
        hint: 'Correct this line; messages after the first one are usually its consequences.',
      });
    }
    const linked = await runTool(linker.path, ['-shared', object, '-o', image]);
    if (linked.status !== 0) {
      const first = linked.stderr.split('\n').find((line) => /error/.test(line)) ?? linked.stderr;
      throw new WavesmithError('hijack/link', `ld.lld could not link the assembled object: ${first.trim()}`, { file });
    }
    return readWhole(image, 'the linked code object');
  });
}

function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return capital.endsWith('.') ? capital : `${capital}.`;
}

export async function assemble(engine: EngineName, text: string, file: string, target: string): Promise<Uint8Array> {
  void engine;
  return assembleWithLlvm(text, file, target);
}

export function disassembleText(code: Uint8Array): string {
  return disassembleCodeObject(code);
}
