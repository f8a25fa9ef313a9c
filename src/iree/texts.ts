// The text to edit for an executable of a module: the compiler's own when it is the module's code, else our disassembly. Every
// text is assembled and compared with the code before it is handed out.
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { formatProcessorAndFeatures } from '../codeobject/elf/target-id.ts';
import { assembleWithWavesmith, disassembleText, type Source, type TextFile } from './engine.ts';
import { type CodeObjectFacts, readFacts, sameCode } from './facts.ts';
import { splitText } from './split-text.ts';

/** Comments that a disassembled text may carry. */
export interface TextComments {
  readonly addresses: boolean;
  readonly encodings: boolean;
}

/** A file of an executable's text, below the folder of all texts. */
export interface ChosenFile extends TextFile {
  /** The one kernel it holds; null for the file that is assembled. */
  readonly kernel: string | null;
}

export interface ChosenText {
  readonly files: readonly [ChosenFile, ...ChosenFile[]];
  readonly from: 'iree-compile' | 'disassembly';
  /** Why the compiler's text was not taken; null when it was, or when there is none. */
  readonly why: string | null;
}

export interface TextRequest {
  /** Name of the executable, fit for a file. */
  readonly name: string;
  readonly kernels: readonly string[];
  readonly facts: CodeObjectFacts;
  /** The text that the compiler dumped. */
  readonly dumped: string | undefined;
  /** One file, however many kernels there are. */
  readonly whole: boolean;
  readonly comments: TextComments;
}

/** Chooses the text of one executable. */
export async function chooseText(request: TextRequest): Promise<ChosenText> {
  const { dumped, facts } = request;
  let why: string | null = null;
  if (dumped !== undefined) {
    const files = arrange(dumped, request, false);
    const difference = await differenceOf(files, facts);
    if (difference === undefined) return { files, from: 'iree-compile', why };
    why = `the compiler's text is not the module's code: ${difference}`;
  }
  const text = await disassembleText(facts.bytes, { sourceLines: true, ...request.comments });
  let difference: string | undefined;
  for (const files of [
    arrange(text, request, true),
    arrange(text, request, false),
    arrange(text, { ...request, whole: true }, false),
  ]) {
    difference = await differenceOf(files, facts);
    if (difference === undefined) return { files, from: 'disassembly', why };
  }
  throw new WavesmithError(
    'hijack/text-not-code',
    `No text was found that assembles to the code of executable '${request.name}': ${difference}.`,
    { hint: 'Please report this with the module; wavesmith disasm and diff show what differs.' },
  );
}

function arrange(text: string, request: TextRequest, moveDescriptors: boolean): [ChosenFile, ...ChosenFile[]] {
  const { name, kernels, whole } = request;
  const split =
    whole || kernels.length < 2 ? undefined : splitText(text, kernels, { executable: name, moveDescriptors });
  if (split === undefined) return [{ path: `${name}.s`, text, kernel: null }];
  return [
    { path: join(name, 'shared.s'), text: split.shared, kernel: null },
    ...split.parts.map((part) => ({ path: join(name, part.file), text: part.text, kernel: part.kernel })),
  ];
}

/** The text as it is assembled. */
export function sourceOf([main, ...included]: readonly [TextFile, ...TextFile[]]): Source {
  return { main, included };
}

/** How the code of a text differs from the module's, in a few words; undefined when it does not. */
async function differenceOf(
  files: readonly [TextFile, ...TextFile[]],
  facts: CodeObjectFacts,
): Promise<string | undefined> {
  let assembled: CodeObjectFacts;
  try {
    assembled = readFacts(
      (await assembleWithWavesmith(sourceOf(files), formatProcessorAndFeatures(facts.target))).code,
    );
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return `it cannot be assembled (${error.message.replace(/\.$/, '')})`;
  }
  if (sameCode(facts, assembled)) return undefined;
  const changed = [...facts.kernels].filter(([name, kernel]) => {
    const other = assembled.kernels.get(name);
    return (
      other === undefined ||
      other.code.length !== kernel.code.length ||
      !kernel.code.every((b, i) => b === other.code[i])
    );
  });
  if (changed.length === 0) return 'it differs in a descriptor, in metadata or in data';
  const [[name, kernel]] = changed;
  const size = assembled.kernels.get(name)?.code.length ?? 0;
  const more = changed.length === 1 ? '' : ` and ${changed.length - 1} more kernel(s)`;
  const how =
    size === kernel.code.length
      ? `the code of ${name} differs`
      : `${name} has ${kernel.code.length} bytes in the module and ${size} in the text`;
  return `${how}${more}`;
}
