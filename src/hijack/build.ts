// Building the edited code objects of a folder: assemble, verify, check, prove; modified/NAME.co for each that changed.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { type CodeEdit, editCode } from '../iree/edit-code.ts';
import { refuseStrayFiles } from '../iree/edited-text.ts';
import type { EngineName } from '../iree/engine.ts';
import { type CodeObjectFacts, readFacts, sameCode } from '../iree/facts.ts';
import { readWhole, sha256, writeWhole } from '../iree/files.ts';
import { type ChangeReport, describeChange } from '../iree/report.ts';
import type { HostContract } from '../iree/verify.ts';
import { makeFolders } from '../snapshot/folders.ts';
import { type ProgramCode, type ProgramManifest, readProgramManifest } from './manifest.ts';

export interface ProgramBuildOptions {
  readonly engine: EngineName;
  /** Turn failed verification and the checker's errors into remarks. */
  readonly force: boolean;
}

export interface CodeResult extends Pick<CodeEdit, 'state' | 'outside' | 'remarks' | 'findings' | 'proofs'> {
  readonly name: string;
  readonly asm: string;
  readonly change: ChangeReport | null;
  /** Path of the code object that was written; null when nothing changed. */
  readonly output: string | null;
  readonly codeSha256: string;
}

export interface ProgramBuildResult {
  readonly folder: string;
  readonly engine: EngineName;
  readonly executables: readonly CodeResult[];
  readonly seconds: number;
}

/** A code object of the folder as it was loaded; a changed file is `hijack/stale-baseline`. */
export function readCode(folder: string, entry: ProgramCode): Uint8Array {
  const path = join(folder, entry.code);
  const bytes = readWhole(path, 'the code object');
  if (sha256(bytes) === entry.codeSha256) return bytes;
  throw new WavesmithError('hijack/stale-baseline', `'${path}' is not the code object that manifest.json describes.`, {
    file: path,
    hint: 'The assembly must be that of the code object: run hijack init again and redo the edit.',
  });
}

/** Where the edited code object of an entry is. */
export const modifiedPath = (folder: string, entry: ProgramCode): string =>
  join(folder, 'modified', `${entry.name}.co`);

/** Builds the code objects whose text was edited; those of earlier builds are removed. */
export async function buildProgram(folder: string, options: ProgramBuildOptions): Promise<ProgramBuildResult> {
  const started = performance.now();
  const manifest: ProgramManifest = readProgramManifest(folder);
  refuseStrayFiles(folder, manifest.executables);
  const edits: { readonly entry: ProgramCode; readonly edit: CodeEdit }[] = [];
  for (const entry of manifest.executables) {
    const code = readCode(folder, entry);
    edits.push({ entry, edit: await editCode(folder, entry, code, contractsOf(entry, readFacts(code)), options) });
  }
  rmSync(join(folder, 'modified'), { recursive: true, force: true });
  const executables = edits.map(({ entry, edit }): CodeResult => {
    const { state, outside, remarks, findings, proofs, before, after, code } = edit;
    const output = state === 'changed' ? modifiedPath(folder, entry) : null;
    if (output !== null) {
      makeFolders(join(folder, 'modified'));
      writeWhole(output, code);
      proveWritten(output, code);
    }
    return {
      name: entry.name,
      asm: entry.asm,
      state,
      outside,
      remarks,
      findings,
      proofs,
      change: before === null || after === null ? null : describeChange(before, after),
      output,
      codeSha256: sha256(code),
    };
  });
  return { folder, engine: options.engine, executables, seconds: (performance.now() - started) / 1000 };
}

/** Reopens what was written. */
function proveWritten(path: string, code: Uint8Array): void {
  if (sameCode(readFacts(readWhole(path, 'the edited code object')), readFacts(code))) return;
  rmSync(path, { force: true });
  throw new WavesmithError('hijack/not-proven', `'${path}' was reopened and does not hold the edit.`, { file: path });
}

/** What launches of the kernels fix: the workgroups that were seen, else those that the kernel asks for. */
function contractsOf(entry: ProgramCode, facts: CodeObjectFacts): HostContract[] {
  return entry.kernels.flatMap(({ name, launches }) => {
    const blocks = new Map(launches.map(({ block }) => [block.join(), block]));
    const required = facts.kernels.get(name)?.metadata?.reqdWorkgroupSize;
    if (blocks.size === 0) blocks.set('', required === undefined ? [1, 1, 1] : [required[0], required[1], required[2]]);
    return [...blocks.values()].map((workgroupSize) => ({ name, workgroupSize }));
  });
}
