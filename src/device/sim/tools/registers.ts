// Register values of a wavefront as data and text: by name for the debugger, by instruction for the trace.
import { WavesmithError } from '../../../base/index.ts';
import { registerFromText } from '../../../isa/index.ts';
import { Slot, type SlotRange, slotName, slotNames, slotsOf } from '../../../program/index.ts';
import { EXEC, LANES, type Wave } from '../state/wave.ts';
import { hex, hexWord, popcount } from './lanes.ts';

/** A scalar register, or a vector register over its active lanes. */
export interface RegisterValue {
  /** `s[4:5]`, `vcc`, `scc`, `v7`, … */
  readonly register: string;
  /** Scalars: the value, 32 bits a register, as hexadecimal. */
  readonly value?: string;
  /** Vectors with the same value in every active lane. */
  readonly uniform?: string;
  /** Vectors with different values: of every active lane, in order; with `lanes: 'few'` the first four. */
  readonly lanes?: readonly string[];
  /** Vectors: number of active lanes. */
  readonly active?: number;
}

/** How many lanes of a vector that differs to give. */
export type LaneDetail = 'few' | 'all';
export const FEW = 4;

/** The word of a slot; SCC and MODE are words too. */
export function scalarSlot(w: Wave, slot: number): number {
  if (slot === Slot.SCC) return w.scc ? 1 : 0;
  if (slot === Slot.MODE) return w.mode;
  return w.sgprs[slot] as number;
}

export const isVectorSlot = (slot: number): boolean => slot >= Slot.VGPR0;

/** First word of a vector slot's lanes in `Wave.vgprs`: AGPRs follow the VGPRs in both numberings. */
const vectorAt = (slot: number): number => (slot - Slot.VGPR0) * LANES;

/** The word of one lane of a vector slot. */
export function vectorWord(w: Wave, slot: number, lane: number): number {
  return w.vgprs[vectorAt(slot) + lane] as number;
}

/** A vector slot over the active lanes. */
export function vectorValue(w: Wave, slot: number, detail: LaneDetail): RegisterValue {
  const at = vectorAt(slot);
  const { vgprs, sgprs } = w;
  const [low, high] = [sgprs[EXEC] as number, sgprs[EXEC + 1] as number];
  const register = slotName(slot);
  const active = popcount(low) + popcount(high);
  if (active === 0) return { register, active };
  const wanted = detail === 'all' ? active : Math.min(FEW, active);
  const values: number[] = [];
  let isUniform = true;
  for (let lane = 0; lane < LANES && (isUniform || values.length < wanted); lane++) {
    if ((((lane < 32 ? low : high) >>> (lane & 31)) & 1) === 0) continue;
    const value = vgprs[at + lane] as number;
    if (values.length < wanted) values.push(value);
    if (value !== values[0]) isUniform = false;
  }
  if (isUniform) return { register, uniform: hex(values[0] as number), active };
  return { register, lanes: values.map(hex), active };
}

const scalarNames = new Map<number, string>();

/** The name of a range of scalar slots. */
export function scalarName({ first, count }: SlotRange): string {
  const key = 1024 * first + count;
  let name = scalarNames.get(key);
  if (name === undefined) {
    const slots = Array.from({ length: count }, (_, i) => first + i);
    name = (count === 2 ? PAIRS[first] : undefined) ?? (slotNames(slots)[0] as string);
    scalarNames.set(key, name);
  }
  return name;
}

/** A range of scalar slots as one value, high word first. */
export function scalarValue(w: Wave, range: SlotRange): RegisterValue {
  const { first } = range;
  let slot = first + range.count - 1;
  while (slot > first && scalarSlot(w, slot) === 0) slot--;
  let value = hex(scalarSlot(w, slot) >>> 0);
  for (slot--; slot >= first; slot--) value += hexWord(scalarSlot(w, slot));
  return { register: scalarName(range), value };
}

const PAIRS: Readonly<Record<number, string>> = {
  [Slot.VCC]: 'vcc',
  [Slot.EXEC]: 'exec',
  [Slot.FLAT_SCRATCH]: 'flat_scratch',
  [Slot.XNACK_MASK]: 'xnack_mask',
};

/** One value as text: `s[2:3]=0x10`, `v1=0x5 (64 lanes)`, `v0=0x0 0x1 0x2 0x3 …`. */
export function valueText(value: RegisterValue): string {
  if (value.value !== undefined) return `${value.register}=${value.value}`;
  if (value.active === 0) return `${value.register}=(no active lane)`;
  if (value.uniform !== undefined) {
    return `${value.register}=${value.uniform}${lanesText(value.active)}`;
  }
  const rest = (value.active ?? 0) > (value.lanes?.length ?? 0) ? ' …' : '';
  return `${value.register}=[${value.lanes?.join(' ')}${rest}]${lanesText(value.active)}`;
}

const lanesText = (active: number | undefined): string =>
  active === LANES ? '' : active === 1 ? ' (1 lane)' : ` (${active} lanes)`;

function bad(text: string): WavesmithError {
  return new WavesmithError('run/bad-register', `'${text}' is not a register.`, {
    hint: 'Registers: s0, s[4:7], v3, v[0:3], a0, vcc, exec, m0, scc, mode, flat_scratch, ttmp0.',
  });
}

/** The slots a register text names: `s4`, `s[4:7]`, `s4-9`, `v0`, `vcc`, `exec_lo`, `m0`, `scc`, `mode`. */
export function slotsFromText(text: string): SlotRange {
  const name = text.trim().toLowerCase();
  if (name === 'scc') return { first: Slot.SCC, count: 1 };
  if (name === 'mode') return { first: Slot.MODE, count: 1 };
  const range = /^([sva])\[?(\d{1,3})(?:[-:](\d{1,3})\]?)?$/.exec(name);
  if (range !== null) {
    const [, file, from, to = from] = range;
    const limit = file === 's' ? 102 : 256;
    const first = Number(from);
    const last = Number(to);
    if (last < first || last >= limit) throw bad(text);
    const base = file === 's' ? 0 : file === 'v' ? Slot.VGPR0 : Slot.AGPR0;
    return { first: base + first, count: last - first + 1 };
  }
  const register = registerFromText(name);
  const slots = register === undefined ? undefined : slotsOf(register);
  if (slots === undefined) throw bad(text);
  return slots;
}

/** The values of the registers a text names: vectors one by one, scalars that the text joins as one. */
export function readRegisters(w: Wave, text: string, detail: LaneDetail): RegisterValue[] {
  const range = slotsFromText(text);
  const each = Array.from({ length: range.count }, (_, i) => range.first + i);
  if (isVectorSlot(range.first)) return each.map((slot) => vectorValue(w, slot, detail));
  if (/-/.test(text)) return each.map((slot) => scalarValue(w, { first: slot, count: 1 }));
  return [scalarValue(w, range)];
}

/** Writes a register: a scalar (pairs take 64 bits), all active lanes of a vector, or with `v3[5]` one lane. */
export function writeRegister(w: Wave, text: string, value: bigint): void {
  const lane = /^([va]\d{1,3})\[(\d{1,2})\]$/i.exec(text.trim());
  if (lane !== null && Number(lane[2]) >= LANES) throw bad(text);
  const range = slotsFromText(lane?.[1] ?? text);
  const { first, count } = range;
  if (value < -(1n << BigInt(32 * count - 1)) || value >= 1n << BigInt(32 * count)) {
    throw new WavesmithError('run/bad-value', `${value} does not fit ${text} (${32 * count} bits).`);
  }
  for (let n = 0; n < count; n++) {
    const word = Number(BigInt.asIntN(32, value >> BigInt(32 * n)));
    const slot = first + n;
    if (slot === Slot.SCC) w.scc = word !== 0;
    else if (slot === Slot.MODE) w.setMode(word);
    else if (!isVectorSlot(slot)) w.sgprs[slot] = word;
    else {
      for (let i = 0; i < LANES; i++) {
        const chosen = lane === null ? w.isActive(i) : i === Number(lane[2]);
        if (chosen) w.vgprs[vectorAt(slot) + i] = word;
      }
    }
  }
}
