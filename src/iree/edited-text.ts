// The text of an executable as it was edited: its files, what in them is new, and the code that they assemble to.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, normalize, relative } from 'node:path';
import type { InstructionLines } from '../asm/assemble/lines.ts';
import { WavesmithError } from '../base/index.ts';
import { changesOutsideEdit, type OutsideChanges } from './edited-lines.ts';
import {
  type Assembled,
  assemble,
  assembleWithWavesmith,
  type EngineName,
  readTargetDirective,
  type Source,
  type TextFile,
} from './engine.ts';
import { type CodeObjectFacts, type KernelFacts, readFacts, sameCode } from './facts.ts';
import { readText, sha256 } from './files.ts';
import type { ManifestText } from './manifest.ts';
import type { EditObjects } from './normal-code.ts';
import { leaveOutUntouched, putBack } from './reassemble.ts';
import { sourceOf } from './texts.ts';

/** An executable's text. */
export interface EditedText {
  readonly source: Source;
  /** The text as init wrote it; undefined when the copies in `baseline/` are not that any more. */
  readonly pristine: Source | undefined;
  readonly isEdited: boolean;
}

interface KnownFile {
  readonly asm: string;
  readonly sha256: string;
}

const filesOf = (entry: ManifestText): [KnownFile, ...KnownFile[]] => [
  { asm: entry.asm, sha256: entry.asmSha256 },
  ...(entry.parts ?? []),
];

/** Reads the files of an executable. */
export function readEditedText(folder: string, entry: ManifestText): EditedText {
  let isEdited = false;
  let isPristineKnown = true;
  const pristine: TextFile[] = [];
  const read = ({ asm, sha256: hash }: KnownFile): TextFile => {
    const path = join(folder, asm);
    const text = readText(path, 'the assembly');
    const isSame = sha256(text) === hash;
    isEdited ||= !isSame;
    const before = isSame ? text : readIfUntouched(join(folder, 'baseline', relative('asm', asm)), hash);
    if (before === undefined) isPristineKnown = false;
    else pristine.push({ path, text: before });
    return { path, text };
  };
  const [main, ...parts] = filesOf(entry);
  const source = sourceOf([read(main), ...parts.map(read)]);
  const [first, ...others] = pristine;
  return { source, pristine: isPristineKnown && first ? sourceOf([first, ...others]) : undefined, isEdited };
}

/** A pristine file, unless that was edited too. */
function readIfUntouched(path: string, hash: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return sha256(text) === hash ? text : undefined;
  } catch {
    return undefined;
  }
}

/** The code of an edit. */
export interface AssembledEdit {
  readonly after: CodeObjectFacts;
  /** Null when it cannot be told. */
  readonly outside: OutsideChanges | null;
  /** Lines by section and offset in `after`; undefined when they are not known. */
  readonly lines: InstructionLines | undefined;
  /** What it and the pristine text were linked from; undefined as `lines`. */
  readonly objects: EditObjects;
}

const NO_OBJECTS: EditObjects = { object: undefined, pristine: undefined };

/** A text as it was assembled, with the kernels that were left out. */
interface Assembly {
  readonly assembled: Assembled;
  readonly facts: CodeObjectFacts;
  readonly source: Source;
  readonly pristine: Source | undefined;
  readonly leftOut: readonly KernelFacts[];
}

/** Assembles the edited kernels, takes the others from the baseline, and looks for changes that nobody made. */
export async function assembleEdit(
  text: EditedText,
  entry: ManifestText,
  before: CodeObjectFacts,
  engine: EngineName,
): Promise<AssembledEdit> {
  checkSource(text.source, entry.target);
  if (engine === 'llvm') return assembleEditWithLlvm(text, entry, before);
  const assembly = (await assembleReduced(text, entry, before)) ?? (await assembleWhole(text, entry));
  return {
    after: assembly.facts,
    lines: assembly.assembled.lines,
    ...(await comparePristine(assembly, entry, before)),
  };
}

async function assembleEditWithLlvm(
  text: EditedText,
  entry: ManifestText,
  before: CodeObjectFacts,
): Promise<AssembledEdit> {
  const { code } = await assemble('llvm', text.source, entry.target);
  const after = readFacts(code);
  // Lines are known from this project's assembler, when it makes the same of the text.
  const own = await assembleWhole(text, entry).catch((error: unknown) => {
    if (error instanceof WavesmithError) return undefined;
    throw error;
  });
  if (own === undefined || !sameCode(own.facts, after))
    return { after, outside: null, lines: undefined, objects: NO_OBJECTS };
  return { after, lines: own.assembled.lines, ...(await comparePristine(own, entry, before)) };
}

async function assembleWhole({ source, pristine }: EditedText, entry: ManifestText): Promise<Assembly> {
  const assembled = await assembleWithWavesmith(source, entry.target);
  return { assembled, facts: readFacts(assembled.code), source, pristine, leftOut: [] };
}

/** Assembles only the touched kernels; undefined when that is not possible or something is wrong with the text. */
async function assembleReduced(
  text: EditedText,
  entry: ManifestText,
  before: CodeObjectFacts,
): Promise<Assembly | undefined> {
  if (text.pristine === undefined) return undefined;
  const { edited, pristine, leftOut } = leaveOutUntouched(text.source, text.pristine, before);
  if (leftOut.length === 0) return undefined;
  try {
    const assembled = await assembleWithWavesmith(edited, entry.target);
    const facts = putBack(assembled.code, leftOut);
    return facts && { assembled, facts, source: edited, pristine, leftOut };
  } catch (error) {
    // The whole text is assembled next: an edited kernel may refer to one that was left out.
    if (error instanceof WavesmithError) return undefined;
    throw error;
  }
}

/** Compares with the pristine text, which must be the module's code. */
async function comparePristine(
  { assembled, source, pristine, leftOut }: Assembly,
  entry: ManifestText,
  before: CodeObjectFacts,
): Promise<Pick<AssembledEdit, 'outside' | 'objects'>> {
  const { object } = assembled;
  if (pristine === undefined) return { outside: null, objects: { object, pristine: undefined } };
  const old = await assembleWithWavesmith(pristine, entry.target);
  const facts = putBack(old.code, leftOut);
  if (facts === undefined || !sameCode(facts, before)) {
    throw new WavesmithError(
      'hijack/text-not-code',
      `The text that init wrote for '${entry.name}' does not assemble to the module's code: an edit would change more than it says.`,
      { file: pristine.main.path, hint: 'The folder is of an older version: run hijack init again and redo the edit.' },
    );
  }
  const outside = changesOutsideEdit({ source: pristine, assembled: old }, { source, assembled }, before.targetName);
  return { outside: outside ?? null, objects: { object, pristine: old.object } };
}

/** Refuses an empty text and one for another target than the baseline's, which the text itself says. */
export function checkSource({ main }: Source, baselineTarget: string): void {
  const { path: file, text } = main;
  if (text.trim() === '') {
    throw new WavesmithError('hijack/empty', `'${file}' is empty.`, {
      file,
      hint: 'Restore it from the baseline folder.',
    });
  }
  const directive = readTargetDirective(text);
  if (directive === undefined || directive.processorAndFeatures === baselineTarget) return;
  throw new WavesmithError(
    'hijack/target-mismatch',
    `The assembly is for ${directive.processorAndFeatures}, the module's code is for ${baselineTarget}; the runtime would ` +
      'refuse to load it.',
    {
      file,
      line: directive.line,
      hint: `Keep .amdgcn_target as the compiler wrote it (…${baselineTarget}), or compile the baseline for the other target.`,
    },
  );
}

const ASSEMBLY = /\.(?:s|S|rocmasm)$/;

/** An assembly file in `asm/` that belongs to no executable would be ignored silently: it is `hijack/stray-file`. */
export function refuseStrayFiles(folder: string, texts: readonly ManifestText[]): void {
  const known = new Set(texts.flatMap((entry) => filesOf(entry).map(({ asm }) => normalize(asm))));
  let names: string[];
  try {
    names = readdirSync(join(folder, 'asm'), { recursive: true, encoding: 'utf8' });
  } catch {
    // A missing folder is reported with the first file that is read from it.
    return;
  }
  const stray = names.map((name) => join('asm', name)).filter((name) => ASSEMBLY.test(name) && !known.has(name));
  if (stray.length === 0) return;
  const contents = [...known].map((name) => readIfPresent(join(folder, name)));
  for (const name of stray) {
    // What a text includes is part of it.
    if (contents.some((text) => text.includes(`"${basename(name)}"`) || text.includes(`/${basename(name)}"`))) continue;
    throw new WavesmithError('hijack/stray-file', `'${join(folder, name)}' belongs to no executable of the folder.`, {
      file: join(folder, name),
      hint: `The files of this folder are ${[...known].slice(0, 4).join(', ')}${known.size > 4 ? ', …' : ''}: edit those, or take this one away.`,
    });
  }
}

function readIfPresent(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
