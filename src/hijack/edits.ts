// What the edited code objects of a folder hold besides the baseline's, ready to take the place of those that a program loads.
import { existsSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import type { CodeObject } from '../codeobject/index.ts';
import { readCodeObject } from '../codeobject/index.ts';
import { checkEdit } from '../iree/check-edit.ts';
import { changedGroups, compareTextWith } from '../iree/edits.ts';
import { type CodeObjectFacts, readFacts, sameCode } from '../iree/facts.ts';
import { readWhole, sha256 } from '../iree/files.ts';
import { normalPair } from '../iree/normal-code.ts';
import type { LoadedCode } from '../runtime/tool-records.ts';
import type { Objection } from '../verdict/index.ts';
import { modifiedPath, readCode } from './build.ts';
import type { ProgramCode, ProgramManifest } from './manifest.ts';
import { linkVariables, type VariableLinks } from './variables.ts';

/** An edited code object. */
export interface ReplacingCode {
  readonly entry: ProgramCode;
  readonly before: CodeObjectFacts;
  readonly bytes: Uint8Array;
  readonly object: CodeObject;
  readonly links: VariableLinks;
  /** Kernels that run the replacement. */
  readonly kernels: readonly string[];
}

export interface ProgramEdits {
  readonly codes: readonly ReplacingCode[];
  /** Edited kernels; of each group at least one must run. Names of kernels, with that of the code object where several have them. */
  readonly groups: readonly (readonly string[])[];
  readonly notBuilt: readonly string[];
  readonly objections: readonly Objection[];
  readonly remarks: readonly string[];
  /** Where an instruction of an edited kernel stands in the text. */
  placeOf(kernel: string, pc: number | undefined): string;
}

/** Reads the edits of a folder and compares them with its text. */
export async function findProgramEdits(folder: string, manifest: ProgramManifest): Promise<ProgramEdits> {
  const codes: ReplacingCode[] = [];
  const groups: (readonly string[])[] = [];
  const notBuilt: string[] = [];
  const objections: Objection[] = [];
  const remarks: string[] = [];
  const places = new Map<string, (pc: number) => string | undefined>();
  for (const entry of manifest.executables) {
    const baseline = readCode(folder, entry);
    const path = modifiedPath(folder, entry);
    const isBuilt = existsSync(path);
    const before = readFacts(baseline);
    const built = isBuilt ? readFacts(readWhole(path, 'the edited code object')) : before;
    const text = await compareTextWith(built, folder, entry, before, isBuilt ? basename(path) : 'the folder');
    if (text.notBuilt !== undefined) notBuilt.push(text.notBuilt);
    if (text.notBuilt !== undefined || !isBuilt || sameCode(before, built)) continue;
    const { edit } = text;
    if (edit?.objects.object === undefined) {
      throw new WavesmithError('hijack/variable', `What '${entry.asm}' was linked from is not known.`, {
        hint: "Build it with '--engine wavesmith': then references to variables can be kept on those of the loaded code.",
      });
    }
    // The bytes are those of the text: their references are known.
    const links = linkVariables(baseline, edit.after.bytes, edit.objects.object);
    const [old, edited] = normalPair(before, edit.after, edit.objects);
    const found = changedGroups(
      entry.kernels.map((k) => k.name),
      old,
      edited,
    );
    groups.push(...found.map((group) => group.map((kernel) => kernelId(manifest, entry, kernel))));
    codes.push({
      entry,
      before,
      bytes: edit.after.bytes,
      object: readCodeObject(edit.after.bytes),
      links,
      kernels: found.flat(),
    });
    for (const name of links.added) remarks.push(`variable '${name}' is new: it is the edit's own`);
    for (const f of checkEdit(old, edited, edit.lines)) {
      if (f.severity !== 'error') continue;
      const { rule, kernel, message, file, line, place } = f;
      const at = file !== undefined && line !== undefined ? `${relative(folder, file)}:${line}` : pcText(place.pc);
      objections.push({ by: 'checker', rule, kernel, place: at, message });
    }
    for (const kernel of found.flat()) {
      places.set(kernel, (pc) => {
        const place = edit.lines?.get('.text')?.get(pc - edit.after.textAddress);
        return place === undefined ? undefined : `${relative(folder, place.file)}:${place.line}`;
      });
    }
  }
  const placeOf = (kernel: string, pc: number | undefined): string =>
    (pc === undefined ? undefined : places.get(kernel)?.(pc)) ?? pcText(pc);
  return { codes, groups, notBuilt, objections, remarks, placeOf };
}

const pcText = (pc: number | undefined): string => (pc === undefined ? '' : `pc 0x${pc.toString(16)}`);

/** A kernel's name; with the name of its code object when another one has a kernel of this name too. */
export function kernelId(manifest: ProgramManifest, entry: ProgramCode, kernel: string): string {
  const owners = manifest.executables.filter((e) => e.kernels.some((k) => k.name === kernel));
  return owners.length > 1 ? `${kernel} (${entry.name})` : kernel;
}

/** The entry of the folder whose code object a program has loaded. A recompilation may give the same code another file. */
export function entryOf(
  manifest: ProgramManifest,
  baselines: ReadonlyMap<string, CodeObjectFacts>,
  loaded: LoadedCode,
): ProgramCode | undefined {
  const hash = sha256(loaded.bytes);
  const exact = manifest.executables.find((e) => e.codeSha256 === hash);
  if (exact !== undefined) return exact;
  const names = new Set(loaded.object.kernels.map((k) => k.name));
  const candidates = manifest.executables.filter((e) => e.kernels.some((k) => names.has(k.name)));
  if (candidates.length === 0) return undefined;
  const facts = readFacts(loaded.bytes);
  return candidates.find((e) => {
    const before = baselines.get(e.name);
    return before !== undefined && sameCode(before, facts) && sameVariables(before, facts);
  });
}

/** Whether variables are where the baseline has them. */
function sameVariables(before: CodeObjectFacts, loaded: CodeObjectFacts): boolean {
  const variables = ({ bytes }: CodeObjectFacts): string =>
    JSON.stringify(readCodeObject(bytes).elf.dynamicSymbols.map((s) => [s.name, String(s.value), String(s.size)]));
  return variables(before) === variables(loaded);
}
