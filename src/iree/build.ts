// Building the modified module of a hijack folder: assemble what was edited, verify it against the baseline, put it back
// (straight into the module, or through iree-compile's substitution), then reopen the result and prove what it holds.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import type { KernelProof } from '../equivalence/index.ts';
import type { EditFinding } from './check-edit.ts';
import { checkSubstitutions, compile, probeCompiler } from './compiler.ts';
import { type CodeEdit, type ExecutableState, editCode } from './edit-code.ts';
import type { OutsideChanges } from './edited-lines.ts';
import { refuseStrayFiles } from './edited-text.ts';
import type { EngineName } from './engine.ts';
import { readFacts, sameCode } from './facts.ts';
import { readWhole, sha256, withTemporaryFolder, writeWhole } from './files.ts';
import { type Manifest, type ManifestExecutable, readManifest } from './manifest.ts';
import { type IreeModule, type ModuleExecutable, readModule, replaceCode } from './module.ts';
import { type ChangeReport, describeChange } from './report.ts';
import { requireIreeTool } from './tools.ts';

export interface BuildOptions {
  /** Where the modified module goes; default DIR/modified.vmfb. */
  readonly output?: string | undefined;
  readonly via: 'patch' | 'compile';
  readonly engine: EngineName;
  /** Turn failed verification and the checker's errors into remarks. */
  readonly force: boolean;
}

export interface ExecutableResult {
  readonly name: string;
  readonly asm: string;
  readonly state: ExecutableState;
  readonly change: ChangeReport | null;
  /** What changed outside the edited lines; null when nothing changed, or when it cannot be told. */
  readonly outside: OutsideChanges | null;
  readonly remarks: readonly string[];
  /** What the checker finds in the edited kernels that it does not find in the baseline's. */
  readonly findings: readonly EditFinding[];
  /** Which edited kernels are proved to be the same functions as before. */
  readonly proofs: readonly KernelProof[];
  /** SHA-256 of the code object found in the result; equals that of the assembled code when `state` is `changed`. */
  readonly codeSha256: string;
}

export interface BuildResult {
  readonly output: string;
  readonly via: 'patch' | 'compile';
  readonly engine: EngineName;
  readonly bytes: number;
  readonly baselineBytes: number;
  readonly identical: boolean;
  readonly executables: readonly ExecutableResult[];
  readonly seconds: {
    readonly assemble: number;
    readonly substitute: number;
    readonly prove: number;
    readonly total: number;
  };
}

interface Edited extends CodeEdit {
  readonly entry: ManifestExecutable;
  readonly executable: ModuleExecutable;
}

/** The baseline module of a folder; a changed file is `hijack/stale-baseline`. */
export function readBaseline(folder: string, manifest: Manifest): Uint8Array {
  const path = join(folder, manifest.baseline.file);
  const bytes = readWhole(path, 'the baseline module');
  if (sha256(bytes) === manifest.baseline.sha256) return bytes;
  throw new WavesmithError('hijack/stale-baseline', `'${path}' is not the module that manifest.json describes.`, {
    file: path,
    hint: 'The assembly must come from the same compilation as the baseline: run hijack init again and redo the edit.',
  });
}

/** Builds DIR's modified module. */
export async function build(folder: string, options: BuildOptions): Promise<BuildResult> {
  const started = performance.now();
  const manifest = readManifest(folder);
  const baseline = readBaseline(folder, manifest);
  const before = readModule(baseline);
  const { executables } = before;
  refuseStrayFiles(folder, manifest.executables);
  const edits: Edited[] = [];
  for (const entry of manifest.executables) {
    edits.push(await readEdit(folder, entry, executables, options));
  }
  const assembled = performance.now();
  const changed = edits.filter((edit) => edit.state === 'changed');
  const output = options.output ?? join(folder, 'modified.vmfb');
  let module: Uint8Array;
  if (changed.length === 0) module = baseline;
  else if (options.via === 'patch') module = patch(before, changed);
  else module = await substitute(folder, manifest, changed);
  const substituted = performance.now();
  writeWhole(output, module);
  try {
    prove(output, edits, executables);
  } catch (error) {
    rmSync(output, { force: true });
    throw error;
  }
  const done = performance.now();
  return {
    output,
    via: options.via,
    engine: options.engine,
    bytes: module.length,
    baselineBytes: baseline.length,
    identical: changed.length === 0,
    executables: edits.map((edit) => ({
      name: edit.entry.name,
      asm: edit.entry.asm,
      state: edit.state,
      outside: edit.outside,
      change: edit.before === null || edit.after === null ? null : describeChange(edit.before, edit.after),
      remarks: edit.remarks,
      findings: edit.findings,
      proofs: edit.proofs,
      codeSha256: sha256(edit.code),
    })),
    seconds: {
      assemble: (assembled - started) / 1000,
      substitute: (substituted - assembled) / 1000,
      prove: (done - substituted) / 1000,
      total: (done - started) / 1000,
    },
  };
}

async function readEdit(
  folder: string,
  entry: ManifestExecutable,
  executables: readonly ModuleExecutable[],
  options: BuildOptions,
): Promise<Edited> {
  const executable = executables[entry.index];
  const known = new Set(executable?.kernels.map((kernel) => kernel.name));
  if (executable === undefined || entry.kernels.some((kernel) => !known.has(kernel.name))) {
    throw new WavesmithError('hijack/bad-manifest', `The baseline module has no executable like '${entry.name}'.`, {
      hint: 'Make the folder anew with hijack init.',
    });
  }
  return { entry, executable, ...(await editCode(folder, entry, executable.codeObject, executable.kernels, options)) };
}

function patch(baseline: IreeModule, changed: readonly Edited[]): Uint8Array {
  return replaceCode(
    baseline,
    changed.map((edit) => ({ index: edit.executable.index, codeObject: edit.code })),
  );
}

/** Recompiles the input with every changed executable replaced; the compiler and its input must be the baseline's. */
async function substitute(folder: string, manifest: Manifest, changed: readonly Edited[]): Promise<Uint8Array> {
  if (manifest.compiler === null || manifest.source.copy === null) {
    throw new WavesmithError(
      'hijack/no-input',
      'This folder was made from a compiled module: there is nothing to compile.',
      {
        hint: 'Use --via patch.',
      },
    );
  }
  const given = join(folder, manifest.source.copy);
  const original = manifest.source.path;
  const source = readWhole(given, 'the MLIR input');
  if (sha256(source) !== manifest.source.sha256) {
    throw new WavesmithError('hijack/stale-input', `'${given}' is not the input that the baseline was compiled from.`, {
      file: given,
      hint: 'Run hijack init again: assembly of one compilation does not fit another.',
    });
  }
  const compiler = await probeCompiler(requireIreeTool('iree-compile'));
  if (compiler.version !== manifest.compiler.version) {
    throw new WavesmithError(
      'hijack/other-compiler',
      `The baseline was compiled by IREE ${manifest.compiler.version}, but iree-compile is ${compiler.version}.`,
      { hint: 'Set IREE_COMPILE to the compiler of the baseline, run hijack init again, or use --via patch.' },
    );
  }
  // Compiling under the original name keeps names that IREE makes of the file's stem.
  const input = sameFile(original, manifest.source.sha256) ? original : given;
  const known = manifest.executables.flatMap((e) => e.kernels.map((k) => k.executable ?? e.name));
  const names: string[] = [];
  const module = await withTemporaryFolder(async (work) => {
    const flags: string[] = [];
    for (const edit of changed) {
      // A linked executable is replaced kernel by kernel, under the names from before linking.
      for (const name of new Set(edit.entry.kernels.map((k) => k.executable ?? edit.entry.name))) {
        const object = `${names.length}.hsaco`;
        writeFileSync(join(work, object), edit.code);
        flags.push(`--iree-hal-substitute-executable-object=${name}=${object}`);
        names.push(name);
      }
    }
    const output = join(work, 'modified.vmfb');
    const search = `--iree-hal-executable-object-search-path=${work}`;
    const all = [...(manifest.compiler?.flags ?? []), search, ...flags, input, '-o', output];
    const { stderr } = await compile(compiler, all);
    checkSubstitutions(stderr, names, known);
    return readWhole(output, 'the compiled module');
  });
  return module;
}

function sameFile(path: string, hash: string): boolean {
  try {
    return sha256(readFileSync(path)) === hash;
  } catch {
    return false;
  }
}

/** Reopens the written module and checks, kernel by kernel, whose code it would launch. */
function prove(output: string, edits: readonly Edited[], baseline: readonly ModuleExecutable[]): void {
  const found = readModule(readWhole(output, 'the modified module')).executables;
  const owner = new Map(
    found.flatMap((executable) => {
      const hash = sha256(executable.codeObject);
      return executable.kernels.map((k) => [k.name, { executable, hash, k }] as const);
    }),
  );
  const failed = (what: string): WavesmithError =>
    new WavesmithError('hijack/not-proven', `'${basename(output)}' was reopened and does not hold the edit: ${what}.`, {
      file: output,
      hint: 'The file was removed. Try the other of --via patch and --via compile, and report this.',
    });
  for (const edit of edits) {
    const wanted = sha256(edit.code);
    for (const kernel of baseline[edit.executable.index].kernels) {
      const now = owner.get(kernel.name);
      if (now === undefined) throw failed(`kernel '${kernel.name}' is missing`);
      if (now.k.workgroupSize.join() !== kernel.workgroupSize.join() || now.k.constants !== kernel.constants) {
        throw failed(`the launch record of kernel '${kernel.name}' changed`);
      }
      if (now.hash === wanted) continue;
      if (edit.state === 'changed') throw failed(`the code object of kernel '${kernel.name}' is not the assembled one`);
      if (!sameCode(readFacts(now.executable.codeObject), readFacts(edit.executable.codeObject))) {
        throw new WavesmithError(
          'hijack/stale-compile',
          `The recompilation changed kernel '${kernel.name}', which was not edited: it is not the baseline's compilation.`,
          { file: output, hint: 'Use --via patch, or run hijack init again.' },
        );
      }
    }
  }
}
