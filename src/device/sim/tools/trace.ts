// Traces execution instruction by instruction: what ran, what it wrote, which memory it touched. Events go to a sink one by one, lines
// of text in pieces, so nothing accumulates.
import { semanticsOf } from '../../../isa/semantics/index.ts';
import type { TargetName } from '../../../isa/types.ts';
import { effectsOf, Slot, type SlotRange } from '../../../program/index.ts';
import type { Engine, EngineJob } from '../dispatch/engine.ts';
import type { DispatchInfo } from '../dispatch/monitor.ts';
import { type BoundInstruction, indexedInstruction, isIndexable, type LoadedCode } from '../interpreter/loaded-code.ts';
import type { DeviceMemory } from '../state/memory.ts';
import { LANES, type Wave } from '../state/wave.ts';
import { type AccessGroup, AccessReader } from './accessed.ts';
import { checkFilter, matches, matchesWave, type TraceFilter } from './filter.ts';
import { hex } from './lanes.ts';
import { LineBuffer } from './line-buffer.ts';
import { LineCode, type LineText, NOTES_COLUMN } from './line-code.ts';
import { isVectorSlot, type LaneDetail, type RegisterValue, scalarValue, valueText, vectorValue } from './registers.ts';
import type { CodeSymbols } from './symbols.ts';
import { lineInstruments, TraceEngine, type TraceInstruments, traceInstruments } from './trace-engine.ts';

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

/** Takes each event, or whole lines of text as UTF-8: what `traceText` gives, and a line feed. No event is made for a line. */
export type TraceSink = ((event: TraceEvent) => void) | { readonly lines: (bytes: Uint8Array) => void };

export interface TraceOptions {
  readonly target: TargetName;
  /** Loaded address of the code object; the trace gives addresses in it. */
  readonly base: number;
  readonly symbols: CodeSymbols;
  readonly filter: TraceFilter;
  readonly lanes: LaneDetail;
  readonly sink: TraceSink;
  /** After so many events no more come. */
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

/** What the text of an access says before and behind its addresses. */
interface AroundAddresses extends Omit<TraceAccess, 'first' | 'addresses'> {
  /** Whether the address of every lane stands between them, not only that of the first. */
  readonly isList: boolean;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

const SCALARS = 128;
const encoder = new TextEncoder();

/** A monitor that traces. What its filter leaves out runs in compiled code, when no other monitor looks. */
export class TraceMonitor {
  private readonly options: TraceOptions;
  private readonly known: (Static | undefined)[] = [];
  private readonly reader = new AccessReader();
  /** By address of the instruction, and number of the access. */
  private readonly around: AroundAddresses[][] = [];
  private readonly scalars = new Int32Array(SCALARS);
  /** With GPR indexing, the registers that the instruction may write, and what they held before it. */
  private readonly vectors = new Int32Array(2 * 256 * LANES);
  private moved: readonly SlotRange[] | undefined;
  private scc = false;
  private mode = 0;
  private memory: readonly TraceAccess[] = [];
  private exec = '';
  private wanted = false;
  private step = 0;
  private events = 0;
  /** Where compiled code writes its lines. */
  private lines: LineBuffer | undefined;
  private readonly buffers = new WeakMap<DeviceMemory, LineBuffer>();
  /** Lines that compiled code may write since `events` was last brought up to date. */
  private granted = 0;
  private wave: Wave | undefined;
  /** With them the code that they are compiled into is kept, by matrix mode. */
  private readonly instruments = new WeakMap<LoadedCode, Map<string, TraceInstruments>>();

  constructor(options: TraceOptions) {
    this.options = options;
  }

  /** The engine of a dispatch; `Monitor.engine`. */
  engine(job: EngineJob): Engine {
    const { loaded, launch, memory } = job;
    this.lines = this.bufferIn(memory);
    let modes = this.instruments.get(loaded);
    if (modes === undefined) {
      modes = new Map();
      this.instruments.set(loaded, modes);
    }
    const instruments = modes.get(launch.mfma) ?? this.newInstruments(loaded);
    modes.set(launch.mfma, instruments);
    return new TraceEngine(job, this, instruments);
  }

  private bufferIn(memory: DeviceMemory): LineBuffer | undefined {
    const { sink } = this.options;
    if (typeof sink === 'function') return undefined;
    let buffer = this.buffers.get(memory);
    if (buffer === undefined) {
      buffer = new LineBuffer(memory, sink.lines);
      this.buffers.set(memory, buffer);
    }
    return buffer;
  }

  private newInstruments(loaded: LoadedCode): TraceInstruments {
    const { filter, lanes, base } = this.options;
    if (this.lines === undefined) return traceInstruments(this, filter);
    const textOf = (pc: number): LineText => {
      const { text, label, defs } = this.known[pc >>> 2] ?? this.describe(pc, loaded.at(base + pc));
      return { text: ` ${lineText(hex(pc), label, text)}`, defs };
    };
    return lineInstruments(this, filter, loaded, new LineCode(loaded, this.lines, lanes, textOf));
  }

  /** Compiled code writes the lines of a wave. */
  enter(w: Wave): void {
    this.wave = w;
    this.lines?.setPrefix(wavePrefix(w.workgroup.id, w.index));
    this.grant();
  }

  /** Notes for compiled code what the instruction at an offset is about to touch. */
  note(pc: number, bound: BoundInstruction): void {
    const w = this.wave as Wave;
    w.refresh();
    const lines = this.lines as LineBuffer;
    lines.clearNote();
    const groups = this.reader.read(w, pc, bound);
    for (let n = 0; n < groups.length; n++) {
      const group = groups[n] as AccessGroup;
      const { before, after, isList } = this.aroundAddresses(pc, n, group);
      lines.addNote(before, group.addresses, isList ? group.count : 1, after);
    }
  }

  /** What stands around the addresses of an access; most are the same from one execution to the next. */
  private aroundAddresses(pc: number, n: number, group: AccessGroup): AroundAddresses {
    const { space, kind, bytes } = group;
    const lanes = lanesOf(group);
    const isList = this.options.lanes === 'all' && group.count > 1;
    const stride = isList ? undefined : group.stride;
    this.around[pc >>> 2] ??= [];
    const all = this.around[pc >>> 2] as AroundAddresses[];
    const known = all[n];
    if (
      known !== undefined &&
      known.space === space &&
      known.kind === kind &&
      known.bytes === bytes &&
      known.lanes === lanes &&
      known.isList === isList &&
      known.stride === stride
    )
      return known;
    const access = { space, kind, bytes, lanes, ...(stride === undefined ? {} : { stride }) };
    const [before, after] = textAround(access, isList);
    const made = {
      ...access,
      isList,
      before: encoder.encode(n === 0 ? before : `; ${before}`),
      after: encoder.encode(after),
    };
    all[n] = made;
    return made;
  }

  /** What was written goes on. */
  flush(): void {
    this.lines?.flush();
  }

  endDispatch(): void {
    this.flush();
  }

  private grant(): void {
    if (this.lines === undefined) return;
    this.settle();
    this.granted = Math.min(2 ** 31 - 1, (this.options.limit ?? Infinity) - this.events);
    this.lines.left = this.granted;
  }

  /** Counts what compiled code has written. */
  private settle(): void {
    if (this.lines === undefined) return;
    const { left } = this.lines;
    this.events += this.granted - left;
    this.granted = left;
  }

  /** No more events come. */
  get isDone(): boolean {
    this.settle();
    return this.events >= (this.options.limit ?? Infinity);
  }

  /** A filter that nothing of the dispatch can pass is `run/bad-filter`. */
  startDispatch({ launch }: DispatchInfo): void {
    checkFilter(this.options.filter, launch.grid, launch.block);
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
    this.moved = w.gprIndexing ? this.keepMoved(w, bound) : undefined;
    this.exec = scalarValue(w, { first: Slot.EXEC, count: 2 }).value as string;
    const all = this.options.lanes === 'all';
    this.memory = this.reader.read(w, at, bound).map((group) => accessEvent(group, all));
  }

  after(w: Wave, pc: number, bound: BoundInstruction): void {
    if (!this.wanted) return;
    this.events++;
    this.grant();
    const at = pc - this.options.base;
    const fixed = this.known[at >>> 2] ?? this.describe(at, bound);
    const { id } = w.workgroup;
    this.emit({
      workgroup: id,
      wave: w.index,
      step: this.step,
      pc: hex(at),
      ...(fixed.label === undefined ? {} : { label: fixed.label }),
      text: fixed.text,
      exec: this.exec,
      writes: this.writes(w, fixed),
      memory: this.memory,
      ...(w.pc === pc + bound.size || w.state === 'ended' ? {} : { jump: hex(w.pc - this.options.base) }),
    });
  }

  private emit(event: TraceEvent): void {
    const { sink } = this.options;
    if (typeof sink === 'function') sink(event);
    else if (this.lines !== undefined) this.lines.write(traceText(event));
    else sink.lines(encoder.encode(`${traceText(event)}\n`));
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
      else if (this.moved === undefined) {
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
    for (const range of this.moved ?? []) this.movedWrites(w, range, out);
    return out;
  }

  /** With GPR indexing, the vector registers that an instruction is about to write: M0 moves them. What they hold is kept. */
  private keepMoved(w: Wave, { instruction }: BoundInstruction): readonly SlotRange[] {
    const isMoved = isIndexable(instruction, semanticsOf(instruction.row.operation));
    const { defs } = effectsOf(isMoved ? indexedInstruction(w, instruction).moved : instruction);
    const written = defs.filter(({ first }) => isVectorSlot(first));
    for (const { first, count } of written) {
      const [from, to] = [first, first + count].map((slot) => (slot - Slot.VGPR0) * LANES) as [number, number];
      this.vectors.set(w.vgprs.subarray(from, to), from);
    }
    return written;
  }

  /** Those of them that have changed. */
  private movedWrites(w: Wave, { first, count }: SlotRange, out: RegisterValue[]): void {
    for (let slot = first; slot < first + count; slot++) {
      const at = (slot - Slot.VGPR0) * LANES;
      let lane = 0;
      while (lane < LANES && this.vectors[at + lane] === w.vgprs[at + lane]) lane++;
      if (lane < LANES) out.push(vectorValue(w, slot, this.options.lanes));
    }
  }
}

/** `TraceAccess.lanes`. */
const lanesOf = ({ lanes, count }: AccessGroup): number => ((lanes[0] as number) < 0 ? 0 : count);

function accessEvent(group: AccessGroup, all: boolean): TraceAccess {
  const { space, kind, bytes, count, addresses, stride } = group;
  return {
    space,
    kind,
    bytes,
    lanes: lanesOf(group),
    first: hex(addresses[0] as number),
    ...(stride === undefined ? {} : { stride }),
    ...(all ? { addresses: Array.from(addresses.subarray(0, count), hex) } : {}),
  };
}

/** What the text of an access says before and behind its addresses: `isList` the one of every lane, else the first. */
function textAround(access: Omit<TraceAccess, 'first' | 'addresses'>, isList: boolean): readonly [string, string] {
  const { space, kind, bytes, lanes, stride } = access;
  const size = lanes === 0 ? `${bytes}B` : `${lanes}×${bytes}B`;
  if (isList) return [`${kind} ${space} [`, `] ${size}`];
  const step = lanes < 2 ? '' : stride === undefined ? ' …' : ` +${stride}`;
  return [`${kind} ${space} `, `${step} ${size}`];
}

function accessText(access: TraceAccess): string {
  const { first, addresses = [] } = access;
  const isList = addresses.length > 1;
  const [before, after] = textAround(access, isList);
  return `${before}${isList ? addresses.join(' ') : first}${after}`;
}

/** What the lines of a wave begin with. */
function wavePrefix(workgroup: TraceEvent['workgroup'], wave: number): string {
  return `${workgroup.join(',')}/${wave}`.padEnd(8);
}

function lineText(pc: string, label: string | undefined, text: string): string {
  return `${pc.padStart(8)} ${label === undefined ? '' : `${label}: `}${text}`;
}

/** An event as one line of text. */
export function traceText(event: TraceEvent): string {
  const line = `${wavePrefix(event.workgroup, event.wave)} ${lineText(event.pc, event.label, event.text)}`;
  const notes = [...event.writes.map(valueText), ...event.memory.map(accessText)];
  if (event.jump !== undefined) notes.push(`→ ${event.jump}`);
  return notes.length === 0 ? line : `${line.padEnd(NOTES_COLUMN)}  ; ${notes.join('; ')}`;
}
