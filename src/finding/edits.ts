// Changes that mend a finding, as data: an editor, `check --fix` and SARIF apply them, people read `editsText`.
import type { Place } from './place.ts';

/** What an s_waitcnt waits for; an absent counter is left alone. */
export interface WaitCounters {
  readonly vmcnt?: number | undefined;
  readonly expcnt?: number | undefined;
  readonly lgkmcnt?: number | undefined;
}

/** One change of the code, of a kernel's descriptor or of its metadata. JSON-able. */
export type Edit =
  /** An s_waitcnt before the instruction at `pc`. */
  | { readonly kind: 'insert-wait'; readonly pc: number; readonly counters: WaitCounters }
  /** So many wait states (s_nop) before the instruction at `pc`. */
  | { readonly kind: 'insert-states'; readonly pc: number; readonly states: number }
  /** Instructions before or behind the one at `pc`, one a line. */
  | { readonly kind: 'insert-code'; readonly pc: number; readonly side: 'before' | 'behind'; readonly code: string }
  /** The s_waitcnt at `pc` waits for exactly these; for nothing: it goes. */
  | { readonly kind: 'set-wait'; readonly pc: number; readonly counters: WaitCounters }
  /** A directive of the kernel's `.amdhsa_kernel` block; without a kernel one of the file. */
  | {
      readonly kind: 'set-directive';
      readonly kernel: string | undefined;
      readonly directive: string;
      readonly value: string;
    }
  /** A key of the kernel's metadata. */
  | { readonly kind: 'set-metadata'; readonly kernel: string; readonly key: string; readonly value: string }
  /** `.p2align` before a label. */
  | { readonly kind: 'align'; readonly label: string; readonly log2: number };

/** An s_waitcnt before an instruction. */
export function insertWait(pc: number, counters: WaitCounters): Edit {
  return { kind: 'insert-wait', pc, counters };
}

/** Wait states before an instruction. */
export function insertStates(pc: number, states: number): Edit {
  return { kind: 'insert-states', pc, states };
}

/** A number for a directive of a kernel's descriptor. */
export function setDirective(kernel: string | undefined, directive: string, value: number | string): Edit {
  return { kind: 'set-directive', kernel, directive, value: String(value) };
}

/** A number for a key of a kernel's metadata. */
export function setMetadata(kernel: string, key: string, value: number): Edit {
  return { kind: 'set-metadata', kernel, key, value: String(value) };
}

/** `s_waitcnt vmcnt(0) lgkmcnt(0)`; undefined for one that waits for nothing. */
export function waitText({ vmcnt, expcnt, lgkmcnt }: WaitCounters): string | undefined {
  const parts = Object.entries({ vmcnt, expcnt, lgkmcnt }).filter(([, count]) => count !== undefined);
  return parts.length === 0 ? undefined : `s_waitcnt ${parts.map(([name, count]) => `${name}(${count})`).join(' ')}`;
}

/** Wait states that one s_nop makes at the most: its operand has 4 bits on gfx9. Source: CDNA3 ISA manual, "S_NOP". */
const STATES_OF_NOP = 16;

/** The s_nop instructions that make so many wait states. */
export function nopTexts(states: number): string[] {
  const texts: string[] = [];
  for (let left = states; left > 0; left -= STATES_OF_NOP) texts.push(`s_nop ${Math.min(left, STATES_OF_NOP) - 1}`);
  return texts;
}

/** The instructions that an inserting edit adds, one each; undefined for other edits. */
export function insertedCode(edit: Edit): string[] | undefined {
  if (edit.kind === 'insert-wait') return [waitText(edit.counters)].filter((text) => text !== undefined);
  if (edit.kind === 'insert-states') return nopTexts(edit.states);
  return edit.kind === 'insert-code' ? edit.code.split('\n') : undefined;
}

/** The edits of one finding as sentences; `places` know the text of the instructions. */
export function editsText(edits: readonly Edit[], places: readonly Place[]): string {
  const instruction = (pc: number): string => {
    const text = places.find((place) => place.pc === pc)?.instruction;
    return text === undefined ? `the instruction at 0x${pc.toString(16)}` : `'${text}'`;
  };
  return phrases(edits, instruction)
    .map((phrase) => `${phrase}.`)
    .join(' ');
}

/** The edits of one finding as the title of an action that stands beside the instruction. */
export function editsTitle(edits: readonly Edit[]): string {
  return phrases(edits, undefined).join('; ');
}

/** One phrase for each edit, one for all settings; `instruction` names the instruction at an address. */
function phrases(edits: readonly Edit[], instruction: ((pc: number) => string) | undefined): string[] {
  const settings = edits.flatMap((edit) => {
    if (edit.kind === 'set-directive') return [`${edit.directive} to ${edit.value}`];
    return edit.kind === 'set-metadata' ? [`${edit.key}: to ${edit.value}`] : [];
  });
  const out = settings.length === 0 ? [] : [`Set ${listText(settings)}`];
  const at = (side: string, pc: number): string => (instruction === undefined ? '' : ` ${side} ${instruction(pc)}`);
  for (const edit of edits) {
    switch (edit.kind) {
      case 'insert-wait':
      case 'insert-code':
        out.push(
          `Insert ${(insertedCode(edit) ?? []).join('; ')}${at(edit.kind === 'insert-code' ? edit.side : 'before', edit.pc)}`,
        );
        break;
      case 'insert-states': {
        const { states } = edit;
        const others = ` (or ${states} independent instruction${states === 1 ? '' : 's'})`;
        out.push(
          `Insert ${nopTexts(states).join('; ')}${instruction === undefined ? '' : others}${at('before', edit.pc)}`,
        );
        break;
      }
      case 'set-wait': {
        const text = waitText(edit.counters);
        out.push(text === undefined ? 'Remove the wait' : `Write ${text} instead`);
        break;
      }
      case 'align':
        out.push(`Insert .p2align ${edit.log2} before the label '${edit.label}'`);
        break;
      case 'set-directive':
      case 'set-metadata':
        break;
      default:
        edit satisfies never;
    }
  }
  return out;
}

function listText(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

/**
 * One edit for each place: waits before one instruction become the strictest of them, wait states the most, a directive that several
 * findings set to numbers the largest. In the order of their first mention.
 */
export function mergeEdits(edits: readonly Edit[]): Edit[] {
  const merged = new Map<string, Edit>();
  for (const edit of edits) {
    const key = keyOf(edit);
    const known = merged.get(key);
    merged.set(key, known === undefined ? edit : both(known, edit));
  }
  return [...merged.values()];
}

function keyOf(edit: Edit): string {
  switch (edit.kind) {
    case 'insert-code':
      return JSON.stringify(edit);
    case 'set-directive':
      return `${edit.kind} ${edit.kernel} ${edit.directive}`;
    case 'set-metadata':
      return `${edit.kind} ${edit.kernel} ${edit.key}`;
    case 'align':
      return `${edit.kind} ${edit.label}`;
    default:
      return `${edit.kind} ${edit.pc}`;
  }
}

function both(a: Edit, b: Edit): Edit {
  if (a.kind === 'insert-wait' && b.kind === 'insert-wait')
    return { ...a, counters: strictest(a.counters, b.counters) };
  if (a.kind === 'set-wait' && b.kind === 'set-wait') return { ...a, counters: strictest(a.counters, b.counters) };
  if (a.kind === 'insert-states' && b.kind === 'insert-states') {
    return { ...a, states: Math.max(a.states, b.states) };
  }
  if (a.kind === 'align' && b.kind === 'align') return { ...a, log2: Math.max(a.log2, b.log2) };
  const isSetting = a.kind === 'set-directive' || a.kind === 'set-metadata';
  if (isSetting && (b.kind === 'set-directive' || b.kind === 'set-metadata')) {
    return Number(b.value) > Number(a.value) ? b : a;
  }
  return a;
}

function strictest(a: WaitCounters, b: WaitCounters): WaitCounters {
  const least = (x: number | undefined, y: number | undefined): number | undefined =>
    x === undefined ? y : y === undefined ? x : Math.min(x, y);
  return {
    vmcnt: least(a.vmcnt, b.vmcnt),
    expcnt: least(a.expcnt, b.expcnt),
    lgkmcnt: least(a.lgkmcnt, b.lgkmcnt),
  };
}
