// manifest.json of a hijack folder that was made from a program or from code objects: what was loaded and launched.
// The folder: manifest.json, code/ (the code objects as they were loaded), asm/ (to edit), baseline/ (the same files as they were),
// modified/ (what hijack build made).
import { WavesmithError } from '../base/index.ts';
import { checkManifestText, type ManifestText, readRawManifest } from '../iree/manifest.ts';

/** How often a kernel was seen in one shape. */
export interface Launch {
  /** Work-items. */
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  /** Static and dynamic LDS. */
  readonly ldsBytes: number;
}

export interface ProgramKernel {
  readonly name: string;
  readonly kernargSize: number;
  /** Static. */
  readonly ldsBytes: number;
  /** Every shape in which the program launched it; empty when it did not, or when there was no program. */
  readonly launches: readonly Launch[];
}

export interface ProgramCode extends ManifestText {
  /** The code object, `code/NAME.co`. */
  readonly code: string;
  /** Where the program had it from, as the runtime names it, or the path inside a file. */
  readonly origin: string;
  readonly kernels: readonly ProgramKernel[];
}

export interface ProgramManifest {
  readonly format: 'wavesmith-hijack';
  readonly version: 1;
  readonly source:
    | { readonly kind: 'program'; readonly command: readonly string[] }
    | { readonly kind: 'code'; readonly path: string; readonly sha256: string };
  readonly target: string;
  readonly executables: readonly ProgramCode[];
}

/** Whether a hijack folder was made from a program or code objects, and not from an IREE module. */
export function isProgramFolder(folder: string): boolean {
  const { kind } = readRawManifest(folder).source;
  return kind === 'program' || kind === 'code';
}

/** Reads and checks the manifest.json of such a folder. */
export function readProgramManifest(folder: string): ProgramManifest {
  const { root, source, check, bad } = readRawManifest(folder);
  if (source.kind === 'program') check.stringList(source.command, 'source.command');
  else if (source.kind === 'code') check.strings(source, 'source', ['path', 'sha256']);
  else throw bad(`it was made from a ${String(source.kind)}`);
  check.strings(root, 'the document', ['target']);
  for (const [i, item] of check.list(root.executables, 'executables').entries()) {
    const at = `executables[${i}]`;
    const code = check.object(item, at);
    checkManifestText(check, code, at);
    check.strings(code, at, ['origin']);
    check.fileName(code.code, `${at}.code`);
    for (const [k, entry] of check.list(code.kernels, `${at}.kernels`).entries()) {
      const where = `${at}.kernels[${k}]`;
      const kernel = check.object(entry, where);
      check.strings(kernel, where, ['name']);
      for (const name of ['kernargSize', 'ldsBytes']) check.count(kernel[name], `${where}.${name}`);
      for (const launch of check.list(kernel.launches, `${where}.launches`)) {
        const one = check.object(launch, `${where}.launches`);
        check.triple(one.grid, `${where}.launches.grid`);
        check.triple(one.block, `${where}.launches.block`);
        check.count(one.ldsBytes, `${where}.launches.ldsBytes`);
      }
    }
  }
  return root as unknown as ProgramManifest;
}

/** The command of a run: the given one, else the one that the folder was made with. */
export function commandOf(manifest: ProgramManifest, given: readonly string[]): readonly string[] {
  if (given.length > 0) return given;
  if (manifest.source.kind === 'program') return manifest.source.command;
  throw new WavesmithError(
    'hijack/no-program',
    'The folder was made from a file: it does not say what loads the code.',
    {
      hint: 'Give the program that does: wavesmith hijack run DIR -- PROGRAM ARGS.',
    },
  );
}
