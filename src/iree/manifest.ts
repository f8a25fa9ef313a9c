// manifest.json of a hijack folder: what was compiled, by what, and what IREE recorded about every kernel.
// The folder: manifest.json, baseline.vmfb, asm/ (to edit), baseline/ (the same files as they were), input/ (the MLIR, if any),
// dumps/ (what else the compiler wrote).
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import type { BindingTensor, DispatchSite } from './dispatches.ts';
import { readText, writeWhole } from './files.ts';

export interface ManifestKernel {
  readonly name: string;
  /** The executable it belonged to before linking; null when unknown (module without its compile). */
  readonly executable: string | null;
  /** Work-items per workgroup. */
  readonly workgroupSize: readonly [number, number, number];
  readonly kernargSize: number;
  readonly ldsBytes: number;
  /** Number of 32-bit constants after the binding pointers. */
  readonly constants: number;
  readonly bindings: readonly ManifestBinding[];
  /** Every distinct dispatch IREE recorded; empty when unknown. */
  readonly dispatches: readonly DispatchSite[];
}

export interface ManifestBinding {
  readonly readOnly: boolean;
  readonly tensors: readonly BindingTensor[];
}

/** The file of one kernel. */
export interface ManifestPart {
  readonly kernel: string;
  readonly asm: string;
  readonly sha256: string;
}

/** A code object and its text. */
export interface ManifestText {
  /** Name of the code object, and of its files. */
  readonly name: string;
  /** `gfx942:sramecc+:xnack-`, from the code object. */
  readonly target: string;
  /** The file that is assembled: `asm/NAME.s`, or `asm/NAME/shared.s`, which includes the parts. */
  readonly asm: string;
  readonly asmSha256: string;
  /** A file for each kernel; absent when everything is in one. */
  readonly parts?: readonly ManifestPart[];
  /** Whether the text is the compiler's own or was made from the code object; either assembles to the module's code. */
  readonly asmFrom: 'iree-compile' | 'disassembly';
  /** Why the compiler's text was not taken; absent when it was, or when there is none. */
  readonly asmWhy?: string;
  readonly codeSha256: string;
  readonly codeBytes: number;
}

export interface ManifestExecutable extends ManifestText {
  /** Position among the module's executables. */
  readonly index: number;
  /** IREE's executable format, `rocm-hsaco-fb`. */
  readonly format: string;
  readonly kernels: readonly ManifestKernel[];
}

export interface Manifest {
  readonly format: 'wavesmith-hijack';
  readonly version: 1;
  readonly source: {
    readonly kind: 'mlir' | 'vmfb';
    /** As given on the command line. */
    readonly path: string;
    readonly sha256: string;
    /** The copy in this folder that `build --via compile` uses; null for a module. */
    readonly copy: string | null;
  };
  readonly target: string;
  readonly compiler: {
    readonly path: string;
    readonly version: string;
    readonly targetFlag: string;
    /** The baseline's command, word by word. */
    readonly commandLine: readonly string[];
    /** The part of it that decides the code: what a recompilation must repeat. */
    readonly flags: readonly string[];
    readonly linked: boolean;
  } | null;
  readonly baseline: { readonly file: string; readonly sha256: string; readonly bytes: number };
  readonly executables: readonly ManifestExecutable[];
}

const FILE = 'manifest.json';

/** Writes DIR/manifest.json. */
export function writeManifest<M extends { readonly format: 'wavesmith-hijack' }>(folder: string, manifest: M): void {
  writeWhole(join(folder, FILE), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** A parsed manifest.json, and what checks it. */
export interface RawManifest {
  readonly path: string;
  readonly root: Record<string, unknown>;
  readonly source: Record<string, unknown>;
  readonly check: Checker;
  bad(why: string, hint?: string): WavesmithError;
}

/** Reads what every manifest.json of a hijack folder has, whatever it was made from. */
export function readRawManifest(folder: string): RawManifest {
  const path = join(folder, FILE);
  const bad = (why: string, hint?: string): WavesmithError =>
    new WavesmithError('hijack/bad-manifest', `'${path}' is not a hijack manifest: ${why}.`, {
      file: path,
      hint: hint ?? "Make the folder anew with 'wavesmith hijack init'.",
    });
  let value: unknown;
  try {
    value = JSON.parse(readText(path, 'the manifest'));
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw bad(`it is not JSON (${(error as Error).message})`);
    throw new WavesmithError('hijack/no-folder', `'${folder}' is not a hijack folder: it has no ${FILE}.`, {
      file: path,
      hint: "Make one with 'wavesmith hijack init INPUT.mlir -o DIR --target gfx942'.",
    });
  }
  const check = new Checker(bad);
  const root = check.object(value, 'the document');
  if (root.format !== 'wavesmith-hijack') throw bad("its format is not 'wavesmith-hijack'");
  if (root.version !== 1) throw bad(`its version is ${String(root.version)}`, 'It was written by a newer wavesmith.');
  return { path, root, source: check.object(root.source, 'source'), check, bad };
}

/** Checks an entry of a manifest for what a code object and its text have. */
export function checkManifestText(check: Checker, executable: Record<string, unknown>, at: string): void {
  check.strings(executable, at, ['name', 'target', 'asm', 'asmSha256', 'asmFrom', 'codeSha256']);
  check.fileName(executable.asm, `${at}.asm`);
  for (const [k, item] of check.list(executable.parts ?? [], `${at}.parts`).entries()) {
    const part = check.object(item, `${at}.parts[${k}]`);
    check.strings(part, `${at}.parts[${k}]`, ['kernel', 'asm', 'sha256']);
    check.fileName(part.asm, `${at}.parts[${k}].asm`);
  }
}

/** Reads and checks the manifest.json of a module's folder. */
export function readManifest(folder: string): Manifest {
  const { root, source, check, bad } = readRawManifest(folder);
  if (source.kind !== 'mlir' && source.kind !== 'vmfb') throw bad(`it was made from a ${String(source.kind)}`);
  check.strings(source, 'source', ['kind', 'path', 'sha256']);
  if (source.copy !== null) check.fileName(source.copy, 'source.copy');
  check.strings(root, 'the document', ['target']);
  if (root.compiler !== null) {
    const compiler = check.object(root.compiler, 'compiler');
    check.strings(compiler, 'compiler', ['path', 'version', 'targetFlag']);
    check.stringList(compiler.flags, 'compiler.flags');
    check.stringList(compiler.commandLine, 'compiler.commandLine');
  }
  const baseline = check.object(root.baseline, 'baseline');
  check.strings(baseline, 'baseline', ['file', 'sha256']);
  check.fileName(baseline.file, 'baseline.file');
  for (const [i, entry] of check.list(root.executables, 'executables').entries()) {
    const at = `executables[${i}]`;
    const executable = check.object(entry, at);
    checkManifestText(check, executable, at);
    check.strings(executable, at, ['format']);
    check.count(executable.index, `${at}.index`);
    for (const [k, item] of check.list(executable.kernels, `${at}.kernels`).entries()) {
      check.kernel(item, `${at}.kernels[${k}]`);
    }
  }
  return root as unknown as Manifest;
}

/** Checks of a parsed JSON value; a wrong shape throws what `bad` makes of it. */
export class Checker {
  private readonly bad: (why: string) => WavesmithError;

  constructor(bad: (why: string) => WavesmithError) {
    this.bad = bad;
  }

  object(value: unknown, at: string): Record<string, unknown> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.bad(`${at} is not an object`);
    return value as Record<string, unknown>;
  }
  list(value: unknown, at: string): unknown[] {
    if (!Array.isArray(value)) throw this.bad(`${at} is not a list`);
    return value;
  }
  strings(object: Record<string, unknown>, at: string, names: readonly string[]): void {
    for (const name of names) if (typeof object[name] !== 'string') throw this.bad(`${at} has no text '${name}'`);
  }
  stringList(value: unknown, at: string): void {
    if (this.list(value, at).some((item) => typeof item !== 'string')) throw this.bad(`${at} is not a list of texts`);
  }
  count(value: unknown, at: string): void {
    if (!Number.isSafeInteger(value) || (value as number) < 0) throw this.bad(`${at} is not a count`);
  }
  countOrNull(value: unknown, at: string): void {
    if (value !== null) this.count(value, at);
  }
  /** Names of files in the folder never lead out of it. */
  fileName(value: unknown, at: string): void {
    if (typeof value !== 'string' || value.startsWith('/') || value.split(/[\\/]/).includes('..')) {
      throw this.bad(`${at} is not a name inside the folder`);
    }
  }
  triple(value: unknown, at: string): void {
    const list = this.list(value, at);
    if (list.length !== 3) throw this.bad(`${at} does not have three dimensions`);
    for (const item of list) this.count(item, at);
  }
  kernel(value: unknown, at: string): void {
    const kernel = this.object(value, at);
    this.strings(kernel, at, kernel.executable === null ? ['name'] : ['name', 'executable']);
    this.triple(kernel.workgroupSize, `${at}.workgroupSize`);
    for (const name of ['kernargSize', 'ldsBytes', 'constants']) this.count(kernel[name], `${at}.${name}`);
    for (const [i, item] of this.list(kernel.bindings, `${at}.bindings`).entries()) {
      const binding = this.object(item, `${at}.bindings[${i}]`);
      for (const entry of this.list(binding.tensors, `${at}.bindings[${i}].tensors`)) {
        const tensor = this.object(entry, `${at}.bindings[${i}].tensors`);
        this.strings(tensor, `${at}.bindings[${i}].tensors`, ['elementType', 'access']);
        this.countOrNull(tensor.offset, `${at}.bindings[${i}].tensors.offset`);
        for (const dimension of this.list(tensor.shape, `${at}.bindings[${i}].tensors.shape`)) {
          this.countOrNull(dimension, `${at}.bindings[${i}].tensors.shape`);
        }
      }
    }
    for (const item of this.list(kernel.dispatches, `${at}.dispatches`)) {
      const site = this.object(item, `${at}.dispatches`);
      if (site.grid !== null) this.triple(site.grid, `${at}.dispatches.grid`);
      for (const constant of this.list(site.constants, `${at}.dispatches.constants`)) {
        if (constant !== null && !Number.isInteger(constant)) {
          throw this.bad(`${at}.dispatches.constants is not a list of integers`);
        }
      }
      for (const entry of this.list(site.bindings, `${at}.dispatches.bindings`)) {
        const range = this.object(entry, `${at}.dispatches.bindings`);
        this.strings(range, `${at}.dispatches.bindings`, ['buffer']);
        this.countOrNull(range.offset, `${at}.dispatches.bindings.offset`);
        this.countOrNull(range.length, `${at}.dispatches.bindings.length`);
      }
    }
  }
}
