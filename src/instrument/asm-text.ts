// Assembly text in a probe: `%name` stands for a value that it gets or gives. What it does to registers is read off its instructions, and
// what it overwrites of the kernel must be declared: that is put back behind it.
import { WavesmithError } from '../base/index.ts';
import { decoderFor, type Instruction, type Register, registerFromText, type TargetName } from '../isa/index.ts';
import { effectsOf, Slot, type SlotRange, slotName, slotsOf, waitRole } from '../program/index.ts';
import type { AsmLine, AsmText, ValueType } from './asm-types.ts';
import { assembleLine } from './assemble.ts';
import { isLane, isWide, type Value } from './values.ts';

const PLACEHOLDER = /%([A-Za-z_]\w*)(?:\.(lo|hi))?/g;
const LABEL = /^([A-Za-z_.$][\w.$]*):$/;
const BRANCH = /^(s_branch|s_cbranch_\w+)\s+([A-Za-z_.$][\w.$]*)$/;
/** Instructions that would leave the text, or depend on where it stands. */
const LEAVES = /^s_(endpgm|setpc|swappc|call|getpc|rfe|trap|sethalt|barrier|cbranch|branch|set_gpr_idx_(on|off|mode))/;

/** Where a value that text names is. */
export interface AsmPlace {
  readonly file: 's' | 'v';
  readonly first: number;
  readonly wide: boolean;
}

/** A line with registers in the places of its names. */
export function filledIn(text: string, places: ReadonlyMap<string, AsmPlace>): string {
  return text.replace(PLACEHOLDER, (_, name: string, half: 'lo' | 'hi' | undefined) => {
    const { file, first, wide } = places.get(name) as AsmPlace;
    if (half === 'hi') return `${file}${first + 1}`;
    return wide && half === undefined ? `${file}[${first}:${first + 1}]` : `${file}${first}`;
  });
}

function wrong(message: string, hint?: string): WavesmithError {
  return new WavesmithError('probe/asm', `The assembly text ${message}.`, { hint });
}

/** Looks at text. Errors: `probe/asm`, `instrument/text`. */
export function readAsmText(
  target: TargetName,
  text: string,
  inputs: ReadonlyMap<string, Value>,
  outputs: ReadonlyMap<string, ValueType>,
  declared: readonly string[],
): AsmText {
  const lines = linesOf(text);
  const labels = new Set(lines.flatMap((line) => (line.kind === 'label' ? [line.name] : [])));
  const types = new Map([...[...inputs].map(([name, { type }]) => [name, type] as const), ...outputs]);
  for (const name of outputs.keys()) if (inputs.has(name)) throw wrong(`has an input and an output '${name}'`);
  const places = examplePlaces(lines, types);
  const own = new Set([...places.values()].flatMap((place) => slotsOfPlace(place)));
  const clobbers = declared.flatMap(singleRegisters);
  const mayWrite = new Set(clobbers.flatMap((name) => slotList(rangeOf(name))));
  const written = new Set<number>(own);
  const reads = new Set<number>();
  let hasMemory = false;
  for (const line of lines) {
    if (line.kind === 'label') continue;
    if (line.kind === 'branch') {
      if (!labels.has(line.name)) throw wrong(`branches to '${line.name}', which is no label of it`);
      continue;
    }
    const bytes = assembleLine(target, filledIn(line.text, places));
    const instruction = decoderFor(target).decode(bytes, 0, bytes.length) as Instruction;
    if (LEAVES.test(instruction.row.operation))
      throw wrong(
        `has '${line.text}', which leaves it or depends on where it stands`,
        'Branches go to labels of the text.',
      );
    hasMemory ||= waitRole(instruction.row).kind !== undefined;
    const { uses, keeps, defs } = effectsOf(instruction);
    for (const slot of [...uses, ...keeps].flatMap(slotList)) {
      if (written.has(slot) || slot === Slot.EXEC || slot === Slot.EXEC + 1 || slot === Slot.MODE) continue;
      if (slot === Slot.SCC)
        throw wrong(
          `reads SCC in '${line.text}' before it writes it`,
          "p.readReg('scc') is the kernel's, as an input.",
        );
      reads.add(slot);
    }
    for (const slot of defs.flatMap(slotList)) {
      written.add(slot);
      if (own.has(slot) || mayWrite.has(slot) || slot === Slot.SCC || slot === Slot.EXEC || slot === Slot.EXEC + 1)
        continue;
      const name = slotName(slot);
      throw wrong(
        `writes ${name} in '${line.text}', which is neither an output nor a clobber`,
        `clobbers: ['${name}']`,
      );
    }
  }
  return {
    lines,
    inputs: [...inputs.keys()],
    outputs: [...outputs].map(([name, type]) => ({ name, type })),
    clobbers,
    reads: [...reads].map(slotName),
    hasMemory,
  };
}

function linesOf(text: string): AsmLine[] {
  return text.split('\n').flatMap((raw): AsmLine[] => {
    const line = raw.replace(/(\/\/|;).*/, '').trim();
    if (line === '') return [];
    const label = LABEL.exec(line);
    if (label !== null) return [{ kind: 'label', name: label[1] as string }];
    const branch = BRANCH.exec(line);
    if (branch !== null) return [{ kind: 'branch', branch: branch[1] as string, name: branch[2] as string }];
    return [{ kind: 'text', text: line }];
  });
}

/** Registers to look at the text with: such as it does not name itself. */
function examplePlaces(lines: readonly AsmLine[], types: ReadonlyMap<string, ValueType>): Map<string, AsmPlace> {
  const text = lines.map((line) => (line.kind === 'text' ? line.text : '')).join('\n');
  const named = new Set<string>();
  for (const [, file, first, last] of text.matchAll(/\b([sv])\[?(\d+)(?::(\d+))?\]?/g))
    for (let n = Number(first); n <= Number(last ?? first); n++) named.add(`${file}${n}`);
  const places = new Map<string, AsmPlace>();
  const next = { s: 0, v: 0 };
  for (const [name, type] of types) {
    const file = type.startsWith('lane') ? 'v' : 's';
    while (named.has(`${file}${next[file]}`) || named.has(`${file}${next[file] + 1}`)) next[file] += 2;
    if (next[file] > (file === 's' ? 98 : 252)) throw wrong('names too many registers');
    places.set(name, { file, first: next[file], wide: type.endsWith('64') });
    next[file] += 2;
  }
  for (const [, name = '', half] of text.matchAll(PLACEHOLDER)) {
    const place = places.get(name);
    if (place === undefined) throw wrong(`names '%${name}', which is neither an input nor an output`);
    if (half !== undefined && !place.wide) throw wrong(`asks for half of '%${name}', which has 32 bits`);
  }
  return places;
}

function slotsOfPlace({ file, first, wide }: AsmPlace): number[] {
  const base = (file === 'v' ? Slot.VGPR0 : 0) + first;
  return wide ? [base, base + 1] : [base];
}

function slotList({ first, count }: SlotRange): number[] {
  return Array.from({ length: count }, (_, i) => first + i);
}

function rangeOf(name: string): SlotRange {
  return slotsOf(registerFromText(name) as Register) as SlotRange;
}

/** The 32-bit registers of a clobber; SCC and EXEC are put back in any case. */
function singleRegisters(name: string): string[] {
  if (name === 'scc' || name === 'exec') return [];
  const register = registerFromText(name);
  const range = register === undefined ? undefined : slotsOf(register);
  const isKnown =
    range !== undefined &&
    (range.first < 102 || range.first >= Slot.VGPR0 || range.first === Slot.M0 || (range.first & ~1) === Slot.VCC);
  if (!isKnown)
    throw wrong(
      `has the clobber '${name}', which is no register that can be put back`,
      'Those are sN, vN, aN, vcc, m0, scc and exec.',
    );
  return slotList(range).map(slotName);
}

/** Whether values of a type are by lane, and how wide: for what stands in text. */
export function placeOf(value: Pick<Value, 'type'>, first: number): AsmPlace {
  return { file: isLane(value as Value) ? 'v' : 's', first, wide: isWide(value as Value) };
}
