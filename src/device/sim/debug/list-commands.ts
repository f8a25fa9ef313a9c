// Commands that show code: source lines where their file can be read, else instructions.
import { bad, type CommandLine, type CommandSession, MOST, place, show, shownFile, sourceLine } from './command.ts';
import { codeAround, disassembly } from './look.ts';
import { codeAt } from './type-commands.ts';

const LINES = 10;

/** Lines of a source file from one on; the line of execution is marked. */
function sourceLines(session: CommandSession, file: string, from: number, to: number): undefined {
  const all = session.sources?.(file);
  if (all === undefined) throw bad(`The source file ${file} cannot be read.`, "'disassemble' shows instructions.");
  if (from > all.length) throw bad(`${file} has ${all.length} lines.`);
  const d = session.debugger;
  const here = d.shownFrame?.line;
  const last = Math.min(to, all.length);
  session.listed = { file, from, to: last };
  const mark = (n: number): string => (here?.file === file && here.line === n ? '=>' : '  ');
  return show(
    session,
    all.slice(from - 1, last).map((text, i) => `${mark(from + i)} ${String(from + i).padStart(5)}  ${text}`),
  );
}

/** `list [PLACE | FROM,TO | -]`: alone, what follows what was listed last, or the lines around execution. */
export function listCommand(session: CommandSession, line: CommandLine): undefined {
  const d = session.debugger;
  const { rest } = line;
  const { listed } = session;
  const around = (file: string, n: number): undefined => {
    const from = Math.max(1, n - LINES / 2);
    return sourceLines(session, file, from, from + LINES - 1);
  };
  const shown = d.shownFrame?.line;
  const file = shownFile(session);
  if (file === undefined || session.sources?.(file) === undefined) return disassemble(session, line);
  const range = /^(\d{1,7})?\s*,\s*(\d{1,7})?$/.exec(rest);
  if (range !== null && (range[1] ?? range[2]) !== undefined) {
    const from = Number(range[1] ?? Number(range[2]) - LINES + 1);
    const to = Number(range[2] ?? from + LINES - 1);
    return sourceLines(session, file, Math.max(1, from), Math.min(to, from + MOST));
  }
  if (rest === '-') {
    const end = (listed?.from ?? (shown?.line ?? 1) + LINES / 2) - 1;
    if (end < 1) throw bad(`This is the start of ${file}.`);
    return sourceLines(session, file, Math.max(1, end - LINES + 1), end);
  }
  if (rest === '' && listed !== undefined) return sourceLines(session, file, listed.to + 1, listed.to + LINES);
  if (rest === '') return around(file, shown?.line ?? 1);
  if (/^\d{1,7}$/.test(rest)) return around(file, Number(rest));
  const inFile = /^(.+):(\d{1,7})$/.exec(rest);
  const named = inFile === null ? undefined : d.options.lines?.files().find((f) => f.endsWith(inFile[1] as string));
  if (named !== undefined) return around(named, Number(inFile?.[2]));
  const at = d.lineOfPlace(place(session, rest), rest);
  return at === undefined ? disassemble(session, line) : around(at.file, at.line);
}

/** `disassemble[/rs] [PLACE]`, `disassemble FUNCTION`, `disassemble FROM,TO`, `disassemble FROM,+BYTES`: a function from its first instruction on. */
export function disassemble(session: CommandSession, line: CommandLine): undefined {
  const d = session.debugger;
  // `disas /r` is `disas/r`.
  const [, typed = '', asked = ''] = /^(?:\/(\w+)\s*)?(.*)$/s.exec(line.rest) ?? [];
  const letters = line.format + typed;
  const unknown = [...letters].find((c) => !'rsmb'.includes(c));
  if (unknown !== undefined)
    throw bad(`'disassemble/${letters}' is not known here.`, '/r and /b show bytes, /s and /m lines of the source.');
  const shown = (pc: number, before: number, after: number): undefined => {
    const sources = /[sm]/.test(letters) ? session.sources : undefined;
    return show(session, disassembly(d, pc, before, after, { hasBytes: /[rb]/.test(letters), sources }));
  };
  const at = (text: string): number => codeAt(d, text)?.address ?? place(session, text);
  const instructionsIn = (from: number, to: number): number =>
    codeAround(d, from, 0, MOST).filter(({ address }) => address < to).length;
  const [, first, last] = /^([^,]+),\s*([^,]+)$/.exec(asked) ?? [];
  if (first !== undefined && last !== undefined) {
    const from = at(first.trim());
    const size = /^\+\s*(0x[0-9a-f]{1,6}|\d{1,6})$/i.exec(last)?.[1];
    const n = instructionsIn(from, size === undefined ? at(last.trim()) : from + Number(size));
    if (n === 0) throw bad(`There is no instruction from ${first.trim()} to before ${last.trim()}.`);
    return shown(from, 0, n);
  }
  const address = asked === '' ? d.pc : at(asked);
  const isName = /^\*?[A-Za-z_]/.test(asked);
  const called = d.options.symbols.symbols.find((s) => isName && s.address === address && s.size > 0);
  return called === undefined
    ? shown(address, 5, 8)
    : shown(address, 0, instructionsIn(address, address + called.size));
}

/** The source line where execution is, as gdb shows it at a stop; undefined where the file cannot be read. */
export function stoppedLine(session: CommandSession): string | undefined {
  return sourceLine(session, session.debugger.shownFrame?.line);
}
