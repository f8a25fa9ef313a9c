// From edited assembly text to a loadable code object, through this project's assembler or through clang + ld.lld.
// The link line is IREE's own (`ld.lld -shared`, compiler/plugins/target/ROCM/ROCMTargetUtils.cpp).
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { InstructionLines } from '../asm/assemble/lines.ts';
import type { DisassembleOptions } from '../asm/disassemble/disassemble.ts';
import { WavesmithError } from '../base/index.ts';
import type { ObjectModel } from '../codeobject/elf/object-model.ts';
import { readWhole, withTemporaryFolder } from './files.ts';
import { llvmVersion, requireLlvmTool, runTool } from './tools.ts';

export type EngineName = 'wavesmith' | 'llvm';

/** A file of assembly. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** Assembly as it is assembled: the main file, and files it includes that are read from here instead of from the disk. */
export interface Source {
  readonly main: TextFile;
  readonly included: readonly TextFile[];
}

/** A loadable code object; from this project's assembler also the object before linking, and the line of each instruction. */
export interface Assembled {
  readonly code: Uint8Array;
  readonly object?: ObjectModel | undefined;
  /** Files are paths as in `Source`. */
  readonly lines?: InstructionLines | undefined;
}

/** What a file's `.amdgcn_target` says. */
export interface TargetDirective {
  /** `gfx942`. */
  readonly processor: string;
  /** `gfx942:sramecc+:xnack-`: what -mcpu must be. */
  readonly processorAndFeatures: string;
  readonly line: number;
}

const TRIPLE = String.raw`(?:amdgcn|amdgpu[\w.]*)-[^-"\n]*-[^-"\n]*-[^-"\n]*-`;
const DIRECTIVE = new RegExp(String.raw`^([ \t]*\.amdgcn_target[ \t]+")${TRIPLE}(gfx[\w-]+)((?::\w+[+-])*)"`, 'm');
const METADATA_TARGET = new RegExp(
  String.raw`^([ \t]*amdhsa\.target:[ \t]*['"]?)${TRIPLE}(gfx[\w-]+(?::\w+[+-])*)`,
  'gm',
);

/** Finds the `.amdgcn_target` of an assembly text; LLVM's triples before and from release 24 are understood. */
export function readTargetDirective(text: string): TargetDirective | undefined {
  const match = DIRECTIVE.exec(text);
  if (match === null) return undefined;
  const line = text.slice(0, match.index).split('\n').length;
  return { processor: match[2], processorAndFeatures: match[2] + match[3], line };
}

/** The kernels an assembly text defines (`.amdhsa_kernel`), in order. */
export function kernelNamesOf(text: string): string[] {
  return [...text.matchAll(/^\s*\.amdhsa_kernel\s+(?:"([^"\n]+)"|([^"\s;/]+))/gm)].map((match) => match[1] ?? match[2]);
}

/** Spells triples the way LLVM up to 23 does, on the two lines that carry one; all other lines stay as they are. */
export function withClassicTriple(text: string): string {
  return text.replace(DIRECTIVE, '$1amdgcn-amd-amdhsa--$2$3"').replace(METADATA_TARGET, '$1amdgcn-amd-amdhsa--$2');
}

/** Assembles with `clang` and links with `ld.lld`; only LLVM's first diagnostic is reported, the rest are its echoes. */
export async function assembleWithLlvm(source: Source, processorAndFeatures: string): Promise<Uint8Array> {
  const clang = requireLlvmTool('clang');
  const linker = requireLlvmTool('ld.lld');
  const { path: file, text } = source.main;
  return withTemporaryFolder(async (folder) => {
    const input = join(folder, 'source.s');
    const object = join(folder, 'object.o');
    const image = join(folder, 'image.hsaco');
    writeFileSync(input, withClassicTriple(text));
    const include = `-I${resolve(dirname(file))}`;
    const flags = ['-x', 'assembler', '-target', 'amdgcn-amd-amdhsa', `-mcpu=${processorAndFeatures}`, include];
    const assembled = await runTool(clang.path, [...flags, '-c', input, '-o', object]);
    if (assembled.status !== 0) {
      const match = /^(.*):(\d+):(\d+): (?:fatal )?error: (.*)/m.exec(assembled.stderr);
      const version = (await llvmVersion(clang)) ?? 'of unknown version';
      const at = match === null || match[1] === input ? file : match[1];
      if (match === null || /invalid target|unknown target|unsupported argument|target id/i.test(match[4])) {
        const first = match?.[4] ?? assembled.stderr.split('\n').find((line) => /error/.test(line)) ?? assembled.stderr;
        throw new WavesmithError(
          'hijack/assembler-llvm',
          `The assembler '${clang.path}' (LLVM ${version}) cannot assemble for ${processorAndFeatures}: ${first.trim()}`,
          {
            file: at,
            line: match === null ? undefined : Number(match[2]),
            hint: 'Use --engine wavesmith, or point ROCM_LLVM at an LLVM that knows this target (gfx950 needs 20 or newer).',
          },
        );
      }
      throw new WavesmithError('hijack/assemble', `${sentence(match[4])} (clang ${version})`, {
        file: at,
        line: Number(match[2]),
        column: Number(match[3]),
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

/** Assembles and links with the engine asked for; the first wrong line is `hijack/assemble` with its position. */
export async function assemble(engine: EngineName, source: Source, processorAndFeatures: string): Promise<Assembled> {
  return engine === 'llvm'
    ? { code: await assembleWithLlvm(source, processorAndFeatures) }
    : assembleWithWavesmith(source, processorAndFeatures);
}

/** Assembles and links in this process. */
export async function assembleWithWavesmith(source: Source, processorAndFeatures: string): Promise<Assembled> {
  const [{ assemble: run }, { link }] = await Promise.all([
    import('../asm/assemble/assemble.ts'),
    import('../codeobject/link/link.ts'),
  ]);
  const { path: file, text } = source.main;
  // An included file has the name that its directive says.
  const pathOf = (name: string): string => (name === file || isAbsolute(name) ? name : join(dirname(file), name));
  const included = new Map(source.included.map((f) => [resolve(f.path), f.text]));
  const { object, lines, diagnostics } = run(text, {
    target: processorAndFeatures,
    file,
    trackLines: true,
    readFile: (name) => {
      const path = resolve(pathOf(name));
      const known = included.get(path);
      return known === undefined ? readIfPresent(path) : new TextEncoder().encode(known);
    },
  });
  const error = diagnostics.find((d) => d.severity === 'error');
  if (object !== undefined && error === undefined)
    return { code: link([object]), object, lines: withPaths(lines, pathOf) };
  throw new WavesmithError('hijack/assemble', sentence(error?.message ?? 'the text cannot be assembled'), {
    file: error === undefined ? file : pathOf(error.file),
    line: error?.line,
    column: error?.column,
    hint: 'Correct this line; messages after the first one are usually its consequences.',
  });
}

function withPaths(
  lines: InstructionLines | undefined,
  pathOf: (name: string) => string,
): InstructionLines | undefined {
  if (lines === undefined) return undefined;
  const paths = new Map<string, string>();
  const path = (name: string): string => {
    const known = paths.get(name) ?? pathOf(name);
    paths.set(name, known);
    return known;
  };
  return new Map(
    [...lines].map(([section, places]) => [
      section,
      new Map([...places].map(([offset, { file, line }]) => [offset, { file: path(file), line }])),
    ]),
  );
}

function readIfPresent(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** Assembly text of a code object that assembles to the same code again. */
export async function disassembleText(codeObject: Uint8Array, options: DisassembleOptions = {}): Promise<string> {
  const { disassembleCodeObject } = await import('../asm/disassemble/disassemble.ts');
  return disassembleCodeObject(codeObject, options);
}
