// Names of places in the code, as users write them for `--break` and the debugger's commands.
import { WavesmithError } from '../../../base/index.ts';
import type { DebugLines } from '../../../codeobject/index.ts';
import type { CodeSymbols } from '../tools/symbols.ts';

/** An address where execution can stop; where a function begins, the place at which its parameters have their values. */
export function behindPrologue(symbols: CodeSymbols, lines: DebugLines | undefined, address: number): number {
  const symbol = symbols.symbols.find((s) => s.address === address && s.size > 0);
  return (symbol === undefined ? undefined : lines?.bodyOf(address, address + symbol.size)) ?? address;
}

/**
 * Addresses of a place: an address, a label, LABEL+N, `+N` from the kernel's start, FILE:LINE, or a LINE of `file`. A source line may have
 * several. What names nothing is `run/no-such-place`.
 */
export function placesOf(
  symbols: CodeSymbols,
  lines: DebugLines | undefined,
  text: string,
  file?: string,
): readonly number[] {
  const match = /^(?:(.+):)?(\d{1,7})$/.exec(text.trim());
  const isLine = match !== null && (match[1] !== undefined || (file !== undefined && Number(match[2]) < symbols.first));
  if (!isLine) {
    const address = symbols.resolveInstruction(text);
    return [/^[^\d+][^+]*$/.test(text.trim()) ? behindPrologue(symbols, lines, address) : address];
  }
  const name = match[1] ?? (file as string);
  const found = lines?.addresses(name, Number(match[2]));
  if (found !== undefined) return found.addresses.map((address) => behindPrologue(symbols, lines, address));
  const files = lines?.files() ?? [];
  throw new WavesmithError('run/no-such-place', `No instruction was made from ${name}:${match[2]}.`, {
    hint:
      files.length === 0
        ? 'The code object has no debug information: compile with -g.'
        : `Source files: ${files.slice(0, 8).join(', ')}.`,
  });
}
