// What a modified module holds besides the baseline: the kernels that were edited, whether that is what the folder's text says, and
// what the checker has against it. A verdict needs all three (verdict/verdict.ts).
import { basename, relative } from 'node:path';
import type { InstructionLines } from '../asm/assemble/lines.ts';
import { WavesmithError } from '../base/index.ts';
import type { RunFinding } from '../device/sim/strict/findings.ts';
import { fingerprint, newFindings } from '../finding/index.ts';
import type { Objection } from '../verdict/index.ts';
import { checkEdit } from './check-edit.ts';
import { type AssembledEdit, assembleEdit, readEditedText } from './edited-text.ts';
import { type CodeObjectFacts, readFacts, sameBytes, sameCode, sameKernel } from './facts.ts';
import type { Manifest, ManifestExecutable, ManifestText } from './manifest.ts';
import type { ModuleExecutable } from './module.ts';
import { findLlvmTool } from './tools.ts';

/** Two modules of a hijack folder. */
export interface ModulePair {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly baseline: readonly ModuleExecutable[];
  readonly modified: readonly ModuleExecutable[];
  /** Path of the modified module. */
  readonly path: string;
  /** True for the folder's own modified module, which must hold what the folder's text says. */
  readonly isFolders: boolean;
}

export interface ModuleEdits {
  /** Edited kernels. Of each group at least one must run: a group is one kernel, or all that a changed function or datum may reach. */
  readonly groups: readonly (readonly string[])[];
  /** Why the module is not the folder's text, one sentence for each executable. */
  readonly notBuilt: readonly string[];
  /** Errors that the checker finds in the edited kernels and not in the baseline's. */
  readonly objections: readonly Objection[];
  /** Where an instruction of an edited kernel stands in the text: `asm/x.s:41`, else its pc. */
  placeOf(kernel: string, pc: number | undefined): string;
}

/** The executable of a module that has a kernel; none is `hijack/kernel-name`. */
export function ownerOf(module: readonly ModuleExecutable[], kernel: string, path: string): ModuleExecutable {
  const found = module.find((executable) => executable.kernels.some((k) => k.name === kernel));
  if (found !== undefined) return found;
  throw new WavesmithError('hijack/kernel-name', `'${path}' has no kernel '${kernel}'.`, {
    hint: 'Give the module that hijack build made from this folder.',
  });
}

/** An edited executable with the lines of its text. */
interface EditedCode {
  readonly facts: CodeObjectFacts;
  readonly lines: InstructionLines | undefined;
}

/** Compares the code objects of both modules, executable by executable. */
export async function findEdits(pair: ModulePair): Promise<ModuleEdits> {
  const { folder, manifest, baseline, modified, path } = pair;
  const groups: string[][] = [];
  const notBuilt: string[] = [];
  const objections: Objection[] = [];
  const places = new Map<string, EditedCode>();
  const textPlace = (file: string | undefined, line: number | undefined, pc: number | undefined): string =>
    file !== undefined && line !== undefined ? `${relative(folder, file)}:${line}` : pcText(pc);
  for (const entry of manifest.executables) {
    const before = baseline[entry.index];
    if (before === undefined) continue;
    const owners = new Set(entry.kernels.map((kernel) => ownerOf(modified, kernel.name, path)));
    const facts = readFacts(before.codeObject);
    const text = await compareWithText(pair, entry, facts, [...owners]);
    if (text.notBuilt !== undefined) notBuilt.push(text.notBuilt);
    for (const owner of owners) {
      if (sameBytes(owner.codeObject, before.codeObject)) continue;
      const own = readFacts(owner.codeObject);
      const { after, lines } = text.edit ?? { after: own, lines: undefined };
      const names = entry.kernels.map((k) => k.name).filter((name) => own.kernels.has(name));
      groups.push(...changedGroups(names, facts, own));
      for (const name of names) places.set(name, { facts: own, lines });
      for (const f of checkEdit(facts, after, lines)) {
        if (f.severity !== 'error') continue;
        const { rule, kernel, message } = f;
        objections.push({ by: 'checker', rule, kernel, place: textPlace(f.file, f.line, f.place.pc), message });
      }
    }
  }
  return {
    groups,
    notBuilt,
    objections,
    placeOf: (kernel, pc) => {
      const edited = places.get(kernel);
      if (edited === undefined || pc === undefined) return pcText(pc);
      const place = edited.lines?.get('.text')?.get(pc - edited.facts.textAddress);
      return textPlace(place?.file, place?.line, pc);
    },
  };
}

const pcText = (pc: number | undefined): string => (pc === undefined ? '' : `pc 0x${pc.toString(16)}`);

/** Edited kernels, each a group; when only what they share was edited, one group of all. */
export function changedGroups(names: readonly string[], before: CodeObjectFacts, after: CodeObjectFacts): string[][] {
  const changed = names.filter((name) => {
    const [a, b] = [before.kernels.get(name), after.kernels.get(name)];
    return a === undefined || b === undefined || !sameKernel(a, b);
  });
  if (changed.length > 0) return changed.map((name) => [name]);
  // A change outside every kernel (shared functions or data) may reach all of them.
  return sameCode(before, after) ? [] : [[...names]];
}

interface TextComparison {
  readonly notBuilt?: string | undefined;
  /** The code of the edited text, when it is what was built. */
  readonly edit?: AssembledEdit | undefined;
}

/** Assembles the folder's text of an executable where it was edited, and compares it with the module's code. */
async function compareWithText(
  { folder, path, isFolders }: ModulePair,
  entry: ManifestExecutable,
  before: CodeObjectFacts,
  owners: readonly ModuleExecutable[],
): Promise<TextComparison> {
  const [owner] = owners;
  // A recompilation may spread the kernels of a linked executable; then no single text is its code.
  if (owner === undefined || owners.length > 1) return {};
  const { edit, notBuilt } = await compareTextWith(readFacts(owner.codeObject), folder, entry, before, basename(path));
  return isFolders ? { edit, notBuilt } : { edit };
}

/** Assembles the folder's text of a code object where it was edited, and compares it with what was built, which `holder` names. */
export async function compareTextWith(
  built: CodeObjectFacts,
  folder: string,
  entry: ManifestText,
  before: CodeObjectFacts,
  holder: string,
): Promise<TextComparison> {
  const again = `run 'wavesmith hijack build ${folder}'`;
  try {
    const text = readEditedText(folder, entry);
    if (!text.isEdited) {
      if (sameCode(before, built)) return {};
      return { notBuilt: `${holder} holds an edit of ${entry.name}, but its text is as init wrote it: ${again}` };
    }
    const edit = await assembleAs(built, text, entry, before);
    if (edit !== undefined) return { edit };
    const state = sameCode(before, built) ? 'has no edit of it' : 'holds another one';
    const why = `The edit of ${entry.name} in ${entry.asm} is not what was built (${holder} ${state}): ${again}`;
    return { notBuilt: why };
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return { notBuilt: `The text of ${entry.name} cannot be built: ${error.format().split('\n')[0]}` };
  }
}

/** Assembles a text with this project's assembler, and with LLVM when that does not give `built`; undefined when neither does. */
async function assembleAs(
  built: CodeObjectFacts,
  text: ReturnType<typeof readEditedText>,
  entry: ManifestText,
  before: CodeObjectFacts,
): Promise<AssembledEdit | undefined> {
  const hasLlvm = findLlvmTool('clang') !== undefined && findLlvmTool('ld.lld') !== undefined;
  let failure: unknown;
  for (const engine of hasLlvm ? (['wavesmith', 'llvm'] as const) : (['wavesmith'] as const)) {
    try {
      const edit = await assembleEdit(text, entry, before, engine);
      if (sameCode(edit.after, built)) return edit;
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return undefined;
}

/** Errors of the strict mode on the modified side that it does not have on the baseline's. */
export function strictObjections(
  baseline: readonly RunFinding[],
  modified: readonly RunFinding[],
  placeOf: ModuleEdits['placeOf'],
): Objection[] {
  const errors = modified.filter((f) => f.severity === 'error');
  return newFindings(errors, baseline.map(fingerprint)).map(({ rule, kernel, place, message }) => ({
    by: 'strict',
    rule,
    kernel,
    place: placeOf(kernel ?? '', place.pc),
    message,
  }));
}

/**
 * What of the edits did not run. Of a run that was asked for by name this is a remark, as long as an edited kernel ran: the verdict is
 * about what was asked for.
 */
export function missedEdits(
  groups: ModuleEdits['groups'],
  launched: ReadonlySet<string>,
  isNamed: boolean,
): { notLaunched: string[]; remarks: string[] } {
  const missed = notLaunched(groups, launched);
  const isRemark = isNamed && missed.length < groups.length;
  return isRemark ? { notLaunched: [], remarks: missed } : { notLaunched: missed, remarks: [] };
}

/** Groups of edited kernels of which none was launched, one sentence each. */
export function notLaunched(groups: ModuleEdits['groups'], launched: ReadonlySet<string>): string[] {
  return groups
    .filter((group) => !group.some((kernel) => launched.has(kernel)))
    .map((group) =>
      group.length === 1
        ? `${group[0]} is edited and did not run`
        : `what ${group.slice(0, 4).join(', ')}${group.length > 4 ? ', …' : ''} share is edited, and none of them ran`,
    );
}
