// Where code is shown: source files when there is debug information, else a listing of the code object that the editor asks us for.
import { existsSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import { Source } from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { WavesmithError } from '../base/index.ts';
import { type CodeLine, codeAround, type Debugger, placesOfLine } from '../device/sim/debug/index.ts';

/** The one source that is not a file. */
export const LISTING = 1;
/** Instructions of the listing at most. */
const MOST_LINES = 500_000;

/** A place as an editor shows it. Lines count from 1. */
export interface ShownPlace {
  readonly source: Source;
  readonly line: number;
}

export class Sources {
  private readonly led: Debugger;
  private readonly folders: readonly string[];
  private lines: { readonly text: string; readonly addresses: readonly (number | undefined)[] } | undefined;
  private byAddress = new Map<number, number>();

  /** `folders`: where relative file names of the debug information are looked for. */
  constructor(led: Debugger, folders: readonly string[]) {
    this.led = led;
    this.folders = folders;
  }

  private get listingSource(): Source {
    return new Source('disassembly.s', undefined, LISTING);
  }

  /** The place of an instruction, by its line in the source when that is there. */
  placeOf(pc: number, found = this.led.options.lines?.at(pc)): ShownPlace {
    const path = found === undefined ? undefined : this.pathOf(found.file);
    if (found !== undefined && path !== undefined)
      return { source: new Source(basename(path), path), line: found.line };
    this.listing();
    return { source: this.listingSource, line: this.byAddress.get(pc) ?? 1 };
  }

  /** All of them: the files that can be found, and the listing. */
  all(): Source[] {
    const files = (this.led.options.lines?.files() ?? []).flatMap((name) => this.pathOf(name) ?? []);
    return [...[...new Set(files)].map((path) => new Source(basename(path), path)), this.listingSource];
  }

  /** The file of a name in the debug information; undefined when it is nowhere. */
  private pathOf(name: string): string | undefined {
    const given = isAbsolute(name) ? [name] : this.folders.map((folder) => resolve(folder, name));
    // It may have been compiled elsewhere: a file of that name beside the code object is it.
    const candidates = [...given, ...this.folders.map((folder) => resolve(folder, basename(name)))];
    return candidates.find((path) => existsSync(path));
  }

  /** The listing's text. */
  listing(): string {
    this.lines ??= this.makeListing();
    return this.lines.text;
  }

  private makeListing(): { text: string; addresses: (number | undefined)[] } {
    const { symbols } = this.led.options;
    const text: string[] = [];
    const addresses: (number | undefined)[] = [];
    const code: readonly CodeLine[] = codeAround(this.led, symbols.first, 0, MOST_LINES);
    for (const { address, text: instruction, label } of code) {
      if (label !== undefined) {
        text.push(`${label}:`);
        addresses.push(undefined);
      }
      addresses.push(address);
      this.byAddress.set(address, addresses.length);
      text.push(`    ${instruction.padEnd(60)} // ${address.toString(16).padStart(8, '0')}`);
    }
    return { text: `${text.join('\n')}\n`, addresses };
  }

  /** Addresses of a line of a file or of the listing; the line that was taken may be a later one. */
  addressesOf(path: string | undefined, reference: number | undefined, line: number) {
    if (reference !== LISTING) {
      return path === undefined ? undefined : placesOfLine(this.led.options, path, line);
    }
    this.listing();
    const { addresses = [] } = this.lines ?? {};
    for (let at = line - 1; at < addresses.length; at++) {
      const address = addresses[at];
      if (address !== undefined) return { line: at + 1, addresses: [address] };
    }
    return undefined;
  }

  /** Lines of a file or of the listing, from one to another, that have code. */
  linesWithCode(path: string | undefined, reference: number | undefined, from: number, to: number): readonly number[] {
    if (reference !== LISTING) {
      return path === undefined ? [] : (this.led.options.lines?.linesWithCode(path, from, to) ?? []);
    }
    this.listing();
    const { addresses = [] } = this.lines ?? {};
    return addresses.flatMap((address, i) => (address === undefined || i + 1 < from || i + 1 > to ? [] : [i + 1]));
  }
}

/** Instructions that one request may ask for. */
const MOST_DISASSEMBLED = 100_000;

/** Exactly `count` instructions from the one `from` instructions after `pc`; those that are not there are marked. */
export function disassembled(
  led: Debugger,
  sources: Sources | undefined,
  pc: number,
  from: number,
  count: number,
): DebugProtocol.DisassembledInstruction[] {
  const { symbols } = led.options;
  if (!Number.isSafeInteger(pc)) throw new WavesmithError('run/bad-address', 'That is no address of code.');
  if (!(count >= 0 && count + Math.abs(from) <= MOST_DISASSEMBLED)) {
    throw new WavesmithError('run/bad-command', `At most ${MOST_DISASSEMBLED} instructions are disassembled at once.`);
  }
  const isCode = pc >= symbols.first && pc < symbols.end;
  const lines = isCode ? codeAround(led, pc, Math.max(0, -from), Math.max(0, from) + count) : [];
  const first = lines.findIndex((line) => line.address >= pc) + from;
  return Array.from({ length: count }, (_, i): DebugProtocol.DisassembledInstruction => {
    const line = lines[first + i];
    if (line === undefined) {
      return {
        address: `0x${Math.max(0, pc + 4 * (from + i)).toString(16)}`,
        instruction: '',
        presentationHint: 'invalid',
      };
    }
    const place = led.options.lines === undefined ? undefined : sources?.placeOf(line.address);
    return {
      address: `0x${line.address.toString(16)}`,
      instruction: line.text,
      instructionBytes: [...line.bytes].map((b) => b.toString(16).padStart(2, '0')).join(' '),
      ...(line.label === undefined ? {} : { symbol: line.label }),
      ...(place === undefined || place.source.sourceReference > 0 ? {} : { location: place.source, line: place.line }),
    };
  });
}
