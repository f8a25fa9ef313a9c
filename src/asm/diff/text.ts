// A code object difference as text for people: a summary per kernel, field changes, and hunks in unified form.
import type { CodeObjectDiff, DiffHunk, DiffLine, FunctionDiff } from './diff.ts';
import type { FieldChange, FieldValue } from './fields.ts';

type Paint = (text: string) => string;

/** How the parts are coloured; identities when colours are off. */
interface Palette {
  readonly title: Paint;
  readonly removed: Paint;
  readonly added: Paint;
  readonly place: Paint;
}

const ansi = (code: number): Paint => {
  return (text) => `\x1b[${code}m${text}\x1b[0m`;
};
const COLOURS: Palette = { title: ansi(1), removed: ansi(31), added: ansi(32), place: ansi(36) };
const plain: Paint = (text) => text;
const NO_COLOURS: Palette = { title: plain, removed: plain, added: plain, place: plain };

/** What is known of kernels beside their text. */
export interface KernelNotes {
  /** By kernel: a line under its title. */
  readonly notes: ReadonlyMap<string, string>;
  /** Kernels that are proved to do the same: each of their changes says so. */
  readonly proved: ReadonlySet<string>;
}

/** The text of a difference; `nameA` and `nameB` say where the sides come from. */
export function diffText(
  diff: CodeObjectDiff,
  nameA: string,
  nameB: string,
  useColours: boolean,
  known?: KernelNotes,
): string {
  const palette = useColours ? COLOURS : NO_COLOURS;
  const out: string[] = [palette.removed(`--- ${nameA}`), palette.added(`+++ ${nameB}`)];
  fieldLines(out, 'header', diff.header, palette);
  fieldLines(out, 'metadata', diff.metadata, palette);
  for (const part of diff.functions) if (part.status !== 'same') functionLines(out, part, palette, known);
  for (const { section, status, hunks } of diff.data) {
    out.push('', palette.title(`data ${section}${statusText(status)}`));
    hunkLines(out, hunks, palette);
  }
  out.push('', summary(diff));
  return `${out.join('\n')}\n`;
}

function statusText(status: string): string {
  return status === 'only-a' ? ': only in A' : status === 'only-b' ? ': only in B' : '';
}

function functionLines(out: string[], part: FunctionDiff, palette: Palette, known: KernelNotes | undefined): void {
  const { a, b, removed, added } = part.instructions;
  const counts =
    part.status === 'changed'
      ? `: ${a} -> ${b} instructions (-${removed} +${added})`
      : `${statusText(part.status)} (${a + b} instructions)`;
  out.push('', palette.title(`${part.kind} ${part.name}${counts}`));
  const note = known?.notes.get(part.name);
  if (note !== undefined) out.push(`  ${note}`);
  fieldLines(out, 'resources', part.resources, palette);
  fieldLines(out, 'descriptor', part.descriptor, palette);
  fieldLines(out, 'metadata', part.metadata, palette);
  hunkLines(out, part.hunks, palette, known?.proved.has(part.name) === true ? ' proved equal' : '');
}

function fieldLines(out: string[], title: string, changes: readonly FieldChange[], palette: Palette): void {
  if (changes.length === 0) return;
  const width = Math.min(48, Math.max(...changes.map((change) => change.field.length)));
  out.push(`  ${title}`);
  for (const { field, a, b } of changes) {
    out.push(`    ${field.padEnd(width)}  ${palette.removed(valueText(a))} -> ${palette.added(valueText(b))}`);
  }
}

function valueText(value: FieldValue): string {
  return value === null ? '(none)' : `${value}`;
}

function hunkLines(out: string[], hunks: readonly DiffHunk[], palette: Palette, note = ''): void {
  for (const { a, b, lines } of hunks) {
    const count = (side: 'a' | 'b') =>
      lines.filter((l) => l.kind === 'same' || (side === 'a') === (l.kind === 'removed'));
    const range = (start: number, length: number) => `${start + (length === 0 ? 0 : 1)},${length}`;
    const at = addressText(lines);
    out.push(palette.place(`@@ -${range(a, count('a').length)} +${range(b, count('b').length)} @@${at}${note}`));
    for (const line of lines) {
      if (line.kind === 'same') out.push(`  ${line.text}`);
      else if (line.kind === 'removed') out.push(palette.removed(`- ${line.text}`));
      else out.push(palette.added(`+ ${line.text}`));
    }
  }
}

function addressText(lines: readonly DiffLine[]): string {
  const first = (side: 'a' | 'b') => lines.find((line) => line[side] !== null)?.[side];
  const [a, b] = [first('a'), first('b')];
  const hex = (address: number | null | undefined) => (typeof address === 'number' ? `0x${address.toString(16)}` : '-');
  return typeof a === 'number' || typeof b === 'number' ? ` ${hex(a)} ${hex(b)}` : '';
}

function summary({ same, functions }: CodeObjectDiff): string {
  const count = (kind: string, status?: string) =>
    functions.filter((f) => f.kind === kind && (status === undefined || f.status === status)).length;
  const kinds = ['kernel', 'function'].filter((kind) => count(kind) > 0);
  const parts = kinds.map((kind) => {
    const details = ['same', 'changed', 'only-a', 'only-b'].filter((status) => count(kind, status) > 0);
    return `${count(kind)} ${kind}${count(kind) === 1 ? '' : 's'} (${details.map((s) => `${count(kind, s)} ${s}`).join(', ')})`;
  });
  return `${same ? 'Same' : 'Different'}: ${parts.join(', ') || 'no functions'}.`;
}
