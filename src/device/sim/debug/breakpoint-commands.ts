// Commands that set, list and remove breakpoints and watchpoints.
import { bad, type CommandLine, type CommandSession, count, place, places, show } from './command.ts';
import type { Debugger } from './debugger.ts';
import { placeText, valueText } from './look.ts';

/** `PLACE [if CONDITION]`. */
export function setBreakpoint(session: CommandSession, { rest }: CommandLine, isTemporary: boolean): undefined {
  const d = session.debugger;
  const match = /^(.*?)(?:\s*\bif\b\s+(.+))?$/.exec(rest);
  const where = match?.[1]?.trim() ?? '';
  const found = where === '' ? [d.pc] : places(d, where);
  const made = d.breakpoints.add({ places: found, condition: match?.[2], isTemporary });
  return show(session, [`breakpoint ${made.id} at ${placesText(d, found)}`]);
}

/** Several addresses of one place. */
export function placesText(d: Debugger, all: readonly number[]): string {
  return all.map((pc) => placeText(d, pc)).join(', ');
}

/** All of them, or watchpoints alone. */
export function listBreakpoints(session: CommandSession, all: boolean): undefined {
  const { breakpoints } = session.debugger;
  const lines = (all ? breakpoints.breakpoints : []).map((b) => {
    const only = b.wave === undefined ? '' : ` wave ${b.wave.workgroup.join(',')}/${b.wave.wave}`;
    const condition = b.condition === undefined ? '' : ` if ${b.condition}`;
    const ignoring = b.ignoring > 0 ? `, ignored ${b.ignoring} times more` : '';
    const once = b.isTemporary === true ? ', once' : '';
    return `${b.id}  ${placesText(session.debugger, b.places)}${only}${condition}${b.isEnabled ? '' : ' (disabled)'}${once}, hit ${b.hits} times${ignoring}`;
  });
  for (const w of breakpoints.watchpoints) {
    const at = w.wave === undefined ? '' : ` of wave ${w.wave.workgroup.join(',')}/${w.wave.wave}`;
    lines.push(
      `${w.id}  watch ${w.expression.text}${at}${w.isEnabled ? '' : ' (disabled)'}, hit ${w.hits} times, now ${valueText(w.last)}`,
    );
  }
  return show(session, lines.length === 0 ? [all ? 'no breakpoints' : 'no watchpoints'] : lines);
}

const ids = (words: readonly string[]): number[] => words.map((word) => count(word, 0, 1_000_000, 'a breakpoint'));

export function enable(session: CommandSession, { words }: CommandLine, isEnabled: boolean): undefined {
  const { breakpoints } = session.debugger;
  const some =
    words.length === 0
      ? [...breakpoints.breakpoints, ...breakpoints.watchpoints]
      : ids(words).map((id) => breakpoints.find(id));
  for (const one of some) one.isEnabled = isEnabled;
  return undefined;
}

/** By number, by place, or all. */
export function remove(session: CommandSession, { words }: CommandLine): undefined {
  const d = session.debugger;
  if (words.length === 0) d.breakpoints.clear();
  for (const word of words) {
    if (
      /^\d{1,6}$/.test(word) &&
      [...d.breakpoints.breakpoints, ...d.breakpoints.watchpoints].some((b) => b.id === Number(word))
    ) {
      d.breakpoints.remove(Number(word));
      continue;
    }
    const pc = place(d, word);
    const there = d.breakpoints.breakpoints.filter((b) => b.places.includes(pc));
    if (there.length === 0) throw bad(`There is no breakpoint at ${word}.`);
    for (const b of there) d.breakpoints.remove(b.id);
  }
  return undefined;
}
