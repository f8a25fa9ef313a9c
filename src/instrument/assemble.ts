// Assembly text of probe code to bytes. The same lines come again at every point, so each is assembled once per target.
import { LineShapes } from '../asm/assemble/line-shapes.ts';
import { WavesmithError } from '../base/index.ts';
import { encode, InstructionParser, Lexer, type ParseContext, type TargetName } from '../isa/index.ts';

/** Lines that were assembled for a target, and shapes of lines: points differ in their registers. */
interface Known {
  readonly lines: Map<string, Uint8Array>;
  readonly shapes: LineShapes;
}

const known = new Map<TargetName, Known>();

/** The bytes of one instruction; `instrument/text` when it does not assemble for the target. */
export function assembleLine(target: TargetName, text: string): Uint8Array {
  let own = known.get(target);
  if (own === undefined) {
    own = { lines: new Map(), shapes: new LineShapes() };
    known.set(target, own);
  }
  let bytes = own.lines.get(text);
  if (bytes === undefined) {
    const isShaped = own.shapes.read(text, 0, text.length);
    const shaped = isShaped ? own.shapes.find() : undefined;
    bytes =
      shaped === undefined ? assembleNew(target, text, isShaped ? own.shapes : undefined) : encode(shaped.instruction);
    own.lines.set(text, bytes);
  }
  return bytes;
}

/** `shapes` has just read the text. */
function assembleNew(target: TargetName, text: string, shapes: LineShapes | undefined): Uint8Array {
  const lexer = new Lexer(text);
  lexer.nextStatement();
  const context: ParseContext = {
    target,
    xnack: false,
    constant: () => undefined,
    here: () => '.',
    numericLabel: () => undefined,
  };
  const parsed = new InstructionParser(lexer, context).parse();
  const problem = lexer.diagnostics[0];
  if (parsed === undefined || problem !== undefined || parsed.fixups.length > 0) {
    throw new WavesmithError(
      'instrument/text',
      `'${text}' is no instruction of ${target}: ${problem?.message ?? 'it names a symbol'}.`,
    );
  }
  shapes?.add(parsed.instruction.row.mnemonic, 0, parsed);
  return encode(parsed.instruction);
}

/** A mark in a list of lines that branches of the same list go to. */
export interface Label {
  readonly label: number;
}

/** A branch to a label: the mnemonic alone. */
export interface Branch {
  readonly branch: string;
  readonly to: number;
}

/** A place in the code whose offset is asked for. */
export interface Mark {
  readonly mark: (offset: number) => void;
}

/** Code that is assembled. */
export interface Ready {
  readonly bytes: Uint8Array;
}

export type Line = string | Label | Branch | Mark | Ready;

/** Assembles lines with branches among them. */
export function assembleLines(target: TargetName, lines: readonly Line[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const labels = new Map<number, number>();
  const branches: { readonly at: number; readonly to: number }[] = [];
  let size = 0;
  const add = (bytes: Uint8Array): void => {
    parts.push(bytes);
    size += bytes.length;
  };
  for (const line of lines) {
    if (typeof line === 'string') add(assembleLine(target, line));
    else if ('bytes' in line) add(line.bytes);
    else if ('label' in line) labels.set(line.label, size);
    else if ('mark' in line) line.mark(size);
    else {
      branches.push({ at: size, to: line.to });
      add(assembleLine(target, `${line.branch} 0`));
    }
  }
  const out = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  const view = new DataView(out.buffer);
  for (const { at: from, to } of branches) view.setInt16(from, ((labels.get(to) as number) - (from + 4)) / 4, true);
  return out;
}
