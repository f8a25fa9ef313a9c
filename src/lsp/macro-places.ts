// Where an instruction of a macro's expansion can be edited: before the call when it is the first one there, else in the macro's body.
import type { Range } from 'vscode-languageserver';
import type { SourceDocument } from './document.ts';
import type { Places } from './places.ts';
import type { Statement } from './scan.ts';

/** A place where code can be put before an instruction. */
export interface MacroPlace {
  readonly range: Range;
  /** It holds for every call. */
  readonly isInBody: boolean;
}

/**
 * The place before the instruction at `pc`, which comes from the call `call` of macro `name`; why there is none as text. A body is edited
 * only when each of its statements is one instruction.
 */
export function placeInMacro(places: Places, pc: number, call: Range, name: string): MacroPlace | string {
  const { document } = places;
  const expanded = places.expansion(pc);
  const at = expanded.indexOf(pc);
  if (at === 0) return { range: call, isInBody: false };
  const body = bodyOf(document, name);
  if (body === undefined || body.length !== expanded.length)
    return `the instruction comes from macro '${name}', whose lines are not one instruction each`;
  const { head, end } = body[at] as Statement;
  return { range: document.range(document.scan.start(head), end), isInBody: true };
}

/** The statements of the only macro of a name, when each of them is an instruction. */
function bodyOf({ scan, names }: SourceDocument, name: string): readonly Statement[] | undefined {
  const blocks = scan.blocks.filter(({ kind, open }) => {
    const statement = scan.statements[open] as Statement;
    return kind === 'macro' && statement.count > 1 && scan.tokenText(statement.head + 1) === name;
  });
  const [block, another] = blocks;
  if (block === undefined || another !== undefined) return undefined;
  const body = scan.statements.slice(block.open + 1, block.close).filter(({ head }) => head >= 0);
  const isPlain = body.every((statement) => {
    const head = scan.headText(statement);
    return !head.startsWith('.') && names.macro(head) === undefined;
  });
  return isPlain ? body : undefined;
}
