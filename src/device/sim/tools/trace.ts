// Traces execution instruction by instruction: what ran, what it wrote, which memory it touched. Events go to a sink one by one, so
// nothing accumulates.
import type { TargetName } from '../../../isa/types.ts';
import { effectsOf, Slot, type SlotRange } from '../../../program/index.ts';
import type { Engine, EngineJob } from '../dispatch/engine.ts';
import type { BoundInstruction, LoadedCode } from '../interpreter/loaded-code.ts';
import { LANES, type Wave } from '../state/wave.ts';
import { type AccessGroup, AccessReader } from './accessed.ts';
import { matches, matchesWave, type TraceFilter } from './filter.ts';
import { hex } from './lanes.ts';
import { isVectorSlot, type LaneDetail, type RegisterValue, scalarValue, valueText, vectorValue } from './registers.ts';
import type { CodeSymbols } from './symbols.ts';
import { TraceEngine, type TraceInstruments, traceInstruments } from './trace-engine.ts';

/** Memory of one instruction. */
export interface TraceAccess {
  readonly space: AccessGroup['space'];
  readonly kind: AccessGroup['kind'];
  /** Bytes of each lane. */
  readonly bytes: number;
  /** 0 for an access of the whole wavefront. */
  readonly lanes: number;
  /** Of the lowest lane. */
  readonly first: string;
  /** Distance of neighbouring lanes when it is the same for all. */
  readonly stride?: number;
  /** Of every active lane, when lanes were asked for. */
  readonly addresses?: readonly string[];
}

/** One executed instruction. */
export interface TraceEvent {
  readonly workgroup: readonly [number, number, number];
  readonly wave: number;
  /** Number of the instruction in its wave, from 0. */
  readonly step: number;
  readonly pc: string;
  readonly label?: string;
  readonly text: string;
  readonly exec: string;
  /** Registers it wrote, and whatever else changed. */
  readonly writes: readonly RegisterValue[];
  readonly memory: readonly TraceAccess[];
  /** Where execution went when it did not go on to the next instruction. */
  readonly jump?: string;
}

export interface TraceOptions {
  readonly target: TargetName;
  /** Loaded address of the code object; the trace gives addresses in it. */
  readonly base: number;
  readonly symbols: CodeSymbols;
  readonly filter: TraceFilter;
  readonly lanes: LaneDetail;
  /** Takes each event; after `limit` of them no more come. */
  readonly sink: (event: TraceEvent) => void;
  readonly limit?: number | undefined;
}

interface Static {
  readonly text: string;
  readonly label: string | undefined;
  readonly defs: readonly SlotRange[];
  /** By scalar slot below SCALARS: 1 where `defs` has it. */
  readonly shown: Uint8Array;
  readonly showsScc: boolean;
  readonly showsMode: boolean;
}

const SCALARS = 128;

/** A monitor that traces. What its filter leaves out runs in compiled code, when no other monitor looks. */
export class TraceMonitor {
  private readonly options: TraceOptions;
  private readonly known: (Static | undefined)[] = [];
  private readonly reader = new AccessReader();
  private readonly scalars = new Int32Array(SCALARS);
  private readonly vectors = new Int32Array(2 * 256 * LANES);
  private scc = false;
  private mode = 0;
  private memory: AccessGroup[] = [];
  private exec = '';
  private wanted = false;
  private step = 0;
  private events = 0;
  /** With them the code that they are compiled into is kept, by matrix mode. */
  private readonly instruments = new WeakMap<LoadedCode, Map<string, TraceInstruments>>();

  constructor(options: TraceOptions) {
    this.options = options;
  }

  /** The engine of a dispatch; `Monitor.engine`. */
  engine(job: EngineJob): Engine {
    const { loaded, launch } = job;
    let modes = this.instruments.get(loaded);
    if (modes === undefined) {
      modes = new Map();
      this.instruments.set(loaded, modes);
    }
    const instruments = modes.get(launch.mfma) ?? traceInstruments(this, this.options.filter);
    modes.set(launch.mfma, instruments);
    return new TraceEngine(job, this, instruments);
  }

  /** No more events come. */
  get isDone(): boolean {
    return this.events >= (this.options.limit ?? Infinity);
  }

  /** Whether instructions of a wave may be traced. */
  wants(w: Wave): boolean {
    return !this.isDone && matchesWave(this.options.filter, w.workgroup.id, w.index);
  }

  before(w: Wave, pc: number, bound: BoundInstruction): void {
    const { filter, base } = this.options;
    const at = pc - base;
    this.wanted = !this.isDone && matches(filter, w.workgroup.id, w.index, at);
    if (!this.wanted) return;
    this.step = w.executed;
    this.scalars.set(w.sgprs.subarray(0, SCALARS));
    this.scc = w.scc;
    this.mode = w.mode;
    if (w.gprIndexing) this.vectors.set(w.vgprs);
    this.exec = scalarValue(w, { first: Slot.EXEC, count: 2 }).value as string;
    this.memory = this.reader.read(w, at, bound);
  }

  after(w: Wave, pc: number, bound: BoundInstruction): void {
    if (!this.wanted) return;
    this.events++;
    const at = pc - this.options.base;
    const fixed = this.known[at >>> 2] ?? this.describe(at, bound);
    const all = this.options.lanes === 'all';
    const { id } = w.workgroup;
    this.options.sink({
      workgroup: id,
      wave: w.index,
      step: this.step,
      pc: hex(at),
      ...(fixed.label === undefined ? {} : { label: fixed.label }),
      text: fixed.text,
      exec: this.exec,
      writes: this.writes(w, fixed),
      memory: this.memory.map((group) => accessEvent(group, all)),
      ...(w.pc === pc + bound.size || w.state === 'ended' ? {} : { jump: hex(w.pc - this.options.base) }),
    });
  }

  private describe(at: number, bound: BoundInstruction): Static {
    const { target, symbols } = this.options;
    const { defs } = effectsOf(bound.instruction);
    const shows = (slot: number): boolean => defs.some(({ first, count }) => slot >= first && slot < first + count);
    const fixed: Static = {
      text: symbols.textOf(target, bound.instruction, at),
      label: symbols.labelAt(at),
      defs,
      shown: Uint8Array.from({ length: SCALARS }, (_, slot) => Number(shows(slot))),
      showsScc: shows(Slot.SCC),
      showsMode: shows(Slot.MODE),
    };
    this.known[at >>> 2] = fixed;
    return fixed;
  }

  private writes(w: Wave, { defs, shown, showsScc, showsMode }: Static): RegisterValue[] {
    const out: RegisterValue[] = [];
    for (const range of defs) {
      if (!isVectorSlot(range.first)) out.push(scalarValue(w, range));
      else if (!w.gprIndexing) {
        for (let n = 0; n < range.count; n++) out.push(vectorValue(w, range.first + n, this.options.lanes));
      }
    }
    const { scalars } = this;
    const { sgprs } = w;
    for (let slot = 0; slot < SCALARS; slot++) {
      if (scalars[slot] !== sgprs[slot] && shown[slot] === 0) out.push(scalarValue(w, { first: slot, count: 1 }));
    }
    if (!showsScc && this.scc !== w.scc) out.push(scalarValue(w, { first: Slot.SCC, count: 1 }));
    if (!showsMode && this.mode !== w.mode) out.push(scalarValue(w, { first: Slot.MODE, count: 1 }));
    if (w.gprIndexing) this.indexedWrites(w, out);
    return out;
  }

  /** With GPR indexing the operands do not say which registers were written. */
  private indexedWrites(w: Wave, out: RegisterValue[]): void {
    for (let register = 0; register < this.vectors.length / LANES; register++) {
      const at = register * LANES;
      for (let lane = 0; lane < LANES; lane++) {
        if (this.vectors[at + lane] === w.vgprs[at + lane]) continue;
        out.push(vectorValue(w, Slot.VGPR0 + register, this.options.lanes));
        break;
      }
    }
  }
}

function accessEvent(group: AccessGroup, all: boolean): TraceAccess {
  const { space, kind, bytes, lanes } = group;
  const first = lanes[0] as AccessGroup['lanes'][number];
  const second = lanes[1];
  const stride = second === undefined ? undefined : (second.address - first.address) / (second.lane - first.lane);
  const regular =
    stride !== undefined && lanes.every((l) => l.address === first.address + stride * (l.lane - first.lane));
  return {
    space,
    kind,
    bytes,
    lanes: first.lane < 0 ? 0 : lanes.length,
    first: hex(first.address),
    ...(regular ? { stride } : {}),
    ...(all ? { addresses: lanes.map((l) => hex(l.address)) } : {}),
  };
}

function accessText(access: TraceAccess): string {
  const { space, kind, bytes, lanes, first, stride, addresses } = access;
  const where =
    addresses !== undefined && addresses.length > 1
      ? `[${addresses.join(' ')}]`
      : `${first}${lanes < 2 ? '' : stride === undefined ? ' …' : ` +${stride}`}`;
  return `${kind} ${space} ${where} ${lanes === 0 ? `${bytes}B` : `${lanes}×${bytes}B`}`;
}

/** An event as one line of text. */
export function traceText(event: TraceEvent): string {
  const parts = [
    `${event.workgroup.join(',')}/${event.wave}`.padEnd(8),
    event.pc.padStart(8),
    `${event.label === undefined ? '' : `${event.label}: `}${event.text}`,
  ];
  const notes = [...event.writes.map(valueText), ...event.memory.map(accessText)];
  if (event.jump !== undefined) notes.push(`→ ${event.jump}`);
  return notes.length === 0 ? parts.join(' ') : `${parts.join(' ').padEnd(64)}  ; ${notes.join('; ')}`;
}
