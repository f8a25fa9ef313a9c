// Names of places in the code, as users write them for `--break` and the debugger's commands.
import type { DebugLines } from '../../../codeobject/index.ts';
import { noSuchLine } from '../tools/filter.ts';
import type { CodeSymbols } from '../tools/symbols.ts';
import { lineText, type SourceFacts, seenFrom } from './frames.ts';

/**
 * An address where execution can stop; where a function begins, the place at which its parameters have their values. Of a kernel whose
 * arguments are preloaded: behind the code that loads them elsewhere.
 */
export function behindPrologue(symbols: CodeSymbols, lines: DebugLines | undefined, address: number): number {
  const symbol = symbols.symbols.find((s) => s.address === address && s.size > 0);
  const begin = symbols.executedAt(address);
  return (symbol === undefined ? undefined : lines?.bodyOf(begin, address + symbol.size)) ?? begin;
}

/** What names places in the code. */
export interface PlaceNames extends SourceFacts {
  readonly symbols: CodeSymbols;
}

/**
 * Addresses of a place: an address, a label, LABEL+N, `+N` from the kernel's start, a function of the source, FILE:LINE, or a LINE of
 * `file`. A source line may have several, and so has a function that was inlined. What names nothing is `run/no-such-place`.
 */
export function placesOf({ symbols, lines, info }: PlaceNames, text: string, file?: string): readonly number[] {
  const match = /^(?:(.+):)?(\d{1,7})$/.exec(text.trim());
  const isLine = match !== null && (match[1] !== undefined || (file !== undefined && Number(match[2]) < symbols.first));
  if (!isLine) {
    const name = ofFile(lines, text.trim());
    if (!/^[^\d+][^+]*$/.test(name)) return [symbols.executedAt(symbols.resolveInstruction(name))];
    const inlined = (info?.entries(name) ?? []).filter((at) => at >= symbols.first && at < symbols.end);
    const named = inlined.length === 0 ? [symbols.resolveInstruction(name)] : [...inlined, ...labelled(symbols, name)];
    return [...new Set(named.map((address) => behindPrologue(symbols, lines, address)))];
  }
  const name = match[1] ?? (file as string);
  const found = placesOfLine({ symbols, lines, info }, name, Number(match[2]));
  if (found !== undefined) return found.addresses;
  throw noSuchLine(name, match[2] as string, lines);
}

/** A function that is named with its file, `kernel.hip:scale`, is meant without it. */
function ofFile(lines: DebugLines | undefined, text: string): string {
  const [, file = '', name = text] = /^([^:]+):(?!:)([^:].*)$/.exec(text) ?? [];
  const isFile = lines?.files().some((known) => known === file || known.endsWith(`/${file}`)) === true;
  return isFile ? name : text;
}

/**
 * Where execution enters a line of a file, or the next line that has code. Where a call that was inlined returns into the middle of its line
 * is not such a place. Undefined when nothing was made from that line or later ones.
 */
export function placesOfLine(
  names: PlaceNames,
  file: string,
  line: number,
): { readonly line: number; readonly addresses: readonly number[] } | undefined {
  const { symbols, lines, info } = names;
  const found = lines?.addresses(file, line);
  if (found === undefined) return undefined;
  const isEntry = (address: number): boolean => {
    const [own] = info?.frames(address) ?? [];
    const before = seenFrom(names, own?.key, address - 4);
    return before.called === undefined || before.line !== lineText(lines?.at(address));
  };
  const entries = found.addresses.filter(isEntry);
  const addresses = firstOfBlocks(names, entries.length > 0 ? entries : found.addresses).map((at) =>
    behindPrologue(symbols, lines, at),
  );
  return { line: found.line, addresses: [...new Set(addresses)] };
}

/** One address of each block, the first, as debuggers do: a `for` has code in front of its loop and at the end of each round. */
function firstOfBlocks({ info }: PlaceNames, addresses: readonly number[]): readonly number[] {
  const known = new Set<number>();
  return addresses.filter((address) => {
    const block = info?.blockAt(address);
    if (block === undefined) return true;
    const isFirst = !known.has(block);
    known.add(block);
    return isFirst;
  });
}

/** The address of a label, if there is one of that name. */
function labelled(symbols: CodeSymbols, name: string): readonly number[] {
  return symbols.symbols.filter((s) => s.name === name).map((s) => s.address);
}
