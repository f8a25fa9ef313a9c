// Commands that set, list and remove breakpoints and watchpoints.
import { WavesmithError } from '../../../base/index.ts';
import { UnknownName } from './arithmetic.ts';
import { keyOf } from './breakpoints.ts';
import { bad, type CommandLine, type CommandSession, count, MOST_STEPS, place, places, show } from './command.ts';
import type { Debugger } from './debugger.ts';
import { parseExpression } from './expression.ts';
import { lineText } from './frames.ts';
import { placeText, selectedWave } from './look.ts';
import { scopeOf } from './scope.ts';
import { operandText } from './variable-text.ts';
import type { WatchedAccess } from './watch-access.ts';
import { sourceAt } from './watched-frame.ts';

/** `[PLACE] [wave N] [if CONDITION]`. */
export function setBreakpoint(session: CommandSession, { rest }: CommandLine, isTemporary: boolean): undefined {
  const d = session.debugger;
  const match = /^(.*?)(?:\s*\b(?:wave|thread)\s+(\d{1,4}))?(?:\s*\bif\b\s*(.+))?$/.exec(rest);
  const where = match?.[1]?.trim() ?? '';
  const index = match?.[2];
  const w = index === undefined ? undefined : d.waves.find((one) => one.index === Number(index));
  if (index !== undefined && w === undefined) {
    throw bad(`'${index}' is not a wave of this workgroup (0 to ${d.waves.length - 1}).`);
  }
  const found = where === '' ? [d.pcOf(selectedWave(d))] : placesOrLater(session, where, match?.[3], isTemporary);
  if (typeof found !== 'number') refuseUnknownIn(d, match?.[3], found, where);
  if (typeof found === 'number') {
    return show(session, [
      `breakpoint ${found} pending at ${where}: no code that is loaded has it; it is set when a kernel has it`,
    ]);
  }
  const wave = w === undefined ? undefined : keyOf(w);
  const there = d.breakpoints.breakpoints.filter((b) => b.places.some((pc) => found.includes(pc))).map((b) => b.id);
  const made = d.breakpoints.add({ places: found, meant: where, condition: match?.[3], isTemporary, wave });
  const note = there.length === 0 ? '' : `, where ${there.join(', ')} ${there.length === 1 ? 'is' : 'are'}, too`;
  return show(session, [
    `${isTemporary ? 'temporary ' : ''}breakpoint ${made.id} at ${placesText(d, found, where)}${note}`,
  ]);
}

/** Addresses of a place; the number of a pending breakpoint when code that a program loads later may have it. */
function placesOrLater(
  session: CommandSession,
  text: string,
  condition: string | undefined,
  isTemporary: boolean,
): readonly number[] | number {
  try {
    return places(session, text);
  } catch (error) {
    const { later } = session.debugger.options.front;
    // A number alone is of the file that is shown; nothing later has it.
    const isName = /^[^\d+*$]/.test(text);
    if (later === undefined || !isName || !(error instanceof WavesmithError) || error.code !== 'run/no-such-place')
      throw error;
    if (condition !== undefined) parseExpression(condition);
    const id = session.debugger.breakpoints.reserve();
    later({ id, text, condition, isTemporary });
    return id;
  }
}

/** Throws when a condition has a name that means nothing at any of the places where it is asked. */
export function refuseUnknownIn(
  d: Debugger,
  condition: string | undefined,
  where: readonly number[],
  meant: string | undefined,
): void {
  const { selected: w } = d;
  // A function that has not been called yet may be on the stack then: `first::n`.
  if (condition === undefined || condition === '' || condition.includes('::') || w === undefined) return;
  const expression = parseExpression(condition);
  let unknown: UnknownName | undefined;
  for (const pc of where) {
    const source = sourceAt<Debugger>(d, pc, d.hiddenAt(pc, meant));
    try {
      expression.evaluate(scopeOf(w, d.lane, source));
      return;
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      // That there is no value now is no error.
      if (!(error instanceof UnknownName)) return;
      unknown ??= error;
    }
  }
  if (unknown !== undefined) throw unknown;
}

const WATCHES: Readonly<Record<WatchedAccess, string>> = { change: '', read: 'read ', any: 'access ' };

/** `watch EXPRESSION [if CONDITION]`; `-l` before it is understood: a place in memory is one already. */
export function setWatchpoint(
  session: CommandSession,
  { rest }: CommandLine,
  access: WatchedAccess = 'change',
): undefined {
  const d = session.debugger;
  const [, text = '', condition] = /^(?:-l(?:ocation)?\s+)?(.*?)(?:\s+if\b\s*(.+))?$/s.exec(rest) ?? [];
  if (access === 'change') refuseConstant(text);
  const made = d.breakpoints.watch(text, d.selected, d.lane, condition, access);
  return show(session, [
    `${WATCHES[access]}watchpoint ${made.id}: ${made.expression.text} = ${operandText(made.last)}`,
  ]);
}

/** Throws for what has no name in it, and no place in memory. */
export function refuseConstant(text: string): void {
  if (text === '' || /[A-Za-z_$*[{]/.test(text.replace(/\b\d[\w.]*/g, ''))) return;
  throw bad(`'${text}' is a constant: it never changes.`, `A place in memory is written as *u32(${text}).`);
}

/** `condition N [EXPRESSION]`. */
export function setCondition(session: CommandSession, { words: [id = ''], rest }: CommandLine): undefined {
  const text = rest.replace(/^\S+\s*/, '');
  const meant = session.debugger.breakpoints.find(numberOf(id));
  if ('places' in meant) refuseUnknownIn(session.debugger, text, meant.places, meant.meant);
  const made = session.debugger.breakpoints.setCondition(numberOf(id), text === '' ? undefined : text);
  return show(session, [text === '' ? `${made.id} stops always` : `${made.id} stops if ${text}`]);
}

/** `ignore N COUNT`. */
export function ignore(session: CommandSession, { words: [id = '', times] }: CommandLine): undefined {
  const found = session.debugger.breakpoints.find(numberOf(id));
  if (!('places' in found)) throw bad(`${found.id} is a watchpoint, which is not passed by a count.`);
  if (times === undefined) throw bad('How many times it is passed is missing.', 'Write: ignore N COUNT.');
  found.ignoring = times === '0' ? 0 : count(times, 1, MOST_STEPS, 'passes');
  return show(session, [`breakpoint ${found.id} is passed ${found.ignoring} times`]);
}

function numberOf(text: string): number {
  if (text === '') throw bad("A breakpoint's number is missing.", "'info breakpoints' lists them.");
  return text === '0' ? 0 : count(text, 0, 1_000_000, 'a breakpoint');
}

/** Several addresses of one place, with their lines. */
function placesText(d: Debugger, all: readonly number[], meant: string | undefined): string {
  const one = (pc: number): string => {
    const line = lineText(d.lineOfPlace(pc, meant));
    return `${placeText(d, pc)}${line === undefined ? '' : ` at ${line}`}`;
  };
  return all.map(one).join(', ');
}

/** All of them, or watchpoints alone. */
export function listBreakpoints(session: CommandSession, all: boolean, only: readonly string[] = []): undefined {
  const { breakpoints } = session.debugger;
  const isMeant = ({ id }: { readonly id: number }): boolean => only.length === 0 || ids(only).includes(id);
  const commandLines = (commands: readonly string[] | undefined): string =>
    (commands ?? []).map((c) => `\n     ${c}`).join('');
  const lines = (all ? breakpoints.breakpoints : []).filter(isMeant).map((b) => {
    const ofWave = b.wave === undefined ? '' : ` wave ${b.wave.workgroup.join(',')}/${b.wave.wave}`;
    const condition = b.condition === undefined ? '' : ` if ${b.condition}`;
    const ignoring = b.ignoring > 0 ? `, ignored ${b.ignoring} times more` : '';
    const once = b.isTemporary === true ? ', once' : '';
    return `${b.id}  ${placesText(session.debugger, b.places, b.meant)}${ofWave}${condition}${b.isEnabled ? '' : ' (disabled)'}${once}, hit ${b.hits} times${ignoring}${commandLines(b.commands)}`;
  });
  for (const w of breakpoints.watchpoints.filter(isMeant)) {
    const at = w.wave === undefined ? '' : ` of wave ${w.wave.workgroup.join(',')}/${w.wave.wave}`;
    lines.push(
      `${w.id}  ${WATCHES[w.access]}watch ${w.expression.text}${at}${w.condition === undefined ? '' : ` if ${w.condition.text}`}${w.isEnabled ? '' : ' (disabled)'}, hit ${w.hits} times, now ${operandText(w.last)}${commandLines(w.commands)}`,
    );
  }
  const waiting = all ? (session.debugger.options.front.waiting?.() ?? []).filter(isMeant) : [];
  for (const { id, text, condition, isTemporary } of waiting) {
    const when = condition === undefined ? '' : ` if ${condition}`;
    lines.push(`${id}  ${text}${when}${isTemporary === true ? ', once' : ''}, pending: no code that is loaded has it`);
  }
  if (lines.length === 0 && only.length > 0)
    throw bad(`There is no ${all ? 'breakpoint or watchpoint' : 'watchpoint'} ${only.join(' ')}.`);
  return show(session, lines.length === 0 ? [all ? 'no breakpoints' : 'no watchpoints'] : lines);
}

/** Numbers of breakpoints: `2`, `3-5`. */
const ids = (words: readonly string[]): number[] =>
  words.flatMap((word) => {
    const [, from = word, to = from] = /^(\d{1,6})-(\d{1,6})$/.exec(word) ?? [];
    const [first, last] = [numberOf(from), numberOf(to)];
    return Array.from({ length: Math.min(1000, Math.max(0, last - first + 1)) }, (_, i) => first + i);
  });

export function enable(session: CommandSession, { words }: CommandLine, isEnabled: boolean): undefined {
  const { breakpoints } = session.debugger;
  if (words[0] === 'display') return enableDisplays(session, words.slice(1), isEnabled);
  if (/^(once|delete|count)$/.test(words[0] ?? '')) {
    throw bad(
      `'${isEnabled ? 'enable' : 'disable'} ${words[0]}' is not known here.`,
      "'tbreak PLACE' stops once, 'ignore N COUNT' passes a breakpoint.",
    );
  }
  const some =
    words.length === 0
      ? [...breakpoints.breakpoints, ...breakpoints.watchpoints]
      : ids(words).map((id) => breakpoints.find(id));
  for (const one of some) one.isEnabled = isEnabled;
  return undefined;
}

/** `disable display [N…]`: kept, and not shown. */
function enableDisplays({ displays }: CommandSession, words: readonly string[], isEnabled: boolean): undefined {
  const unknown = words.find((word) => !displays.some((one) => String(one.id) === word));
  if (unknown !== undefined) throw bad(`There is no display '${unknown}'.`, "'info display' lists them.");
  for (const one of displays) if (words.length === 0 || words.includes(String(one.id))) one.isOff = !isEnabled;
  return undefined;
}

/** By number, by place, or all. */
export function remove(session: CommandSession, { words }: CommandLine): undefined {
  const d = session.debugger;
  const [first, ...others] = words;
  if (first === 'display') return undisplay(session, others);
  const meant = first !== undefined && /^br(?:eak(?:points?)?)?$/.test(first) ? others : words;
  const { forget } = d.options.front;
  if (meant.length === 0) {
    d.breakpoints.clear();
    forget?.();
  }
  for (const word of meant.flatMap((one) => (/^\d{1,6}-\d{1,6}$/.test(one) ? ids([one]).map(String) : [one]))) {
    if (
      /^\d{1,6}$/.test(word) &&
      [...d.breakpoints.breakpoints, ...d.breakpoints.watchpoints].some((b) => b.id === Number(word))
    ) {
      d.breakpoints.remove(Number(word));
      continue;
    }
    if (/^\d{1,6}$/.test(word) && forget?.(Number(word)) === true) continue;
    const pc = placeOrNumber(session, word);
    const there = d.breakpoints.breakpoints.filter((b) => b.places.includes(pc));
    if (there.length === 0) throw bad(`There is no breakpoint at ${word}.`);
    for (const b of there) d.breakpoints.remove(b.id);
  }
  return undefined;
}

/** A place; where a number is no line of the source either, that of a breakpoint was meant. */
function placeOrNumber(session: CommandSession, word: string): number {
  try {
    return place(session, word);
  } catch (error) {
    if (!(error instanceof WavesmithError) || !/^\d{1,6}$/.test(word)) throw error;
    throw bad(`There is no breakpoint or watchpoint ${word}.`, "'info breakpoints' lists them.");
  }
}

/** `undisplay [N…]`: ends showing values at each stop. */
export function undisplay(session: CommandSession, words: readonly string[]): undefined {
  const { displays } = session;
  if (words.length === 0) displays.length = 0;
  for (const word of words) {
    const at = displays.findIndex((one) => String(one.id) === word);
    if (at < 0) throw bad(`There is no display '${word}'.`, "'info display' lists them.");
    displays.splice(at, 1);
  }
  return undefined;
}
