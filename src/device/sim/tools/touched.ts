// Which bytes of device memory a dispatch reads before it writes them, and which it writes: the monitor behind captures. Memory is
// looked at in chunks; the content of each is kept as it is before the dispatch first touches it. Scratch and LDS are not memory here.
import { semanticsOf } from '../../../isa/semantics/index.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../apertures.ts';
import type { Engine, EngineJob } from '../dispatch/engine.ts';
import type { DispatchInfo, Monitor } from '../dispatch/monitor.ts';
import { type AccessPlan, accessPlan } from '../interpreter/access-plan.ts';
import type { BoundInstruction, LoadedCode } from '../interpreter/loaded-code.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Region } from '../state/region.ts';
import { EXEC, LANES, maskBit, type Wave } from '../state/wave.ts';
import { CompiledEngine } from '../wasm/engine.ts';
import type { Instrument } from '../wasm/instrument.ts';
import { INDEXES_REGISTERS } from '../wasm/place.ts';
import type { Block } from '../wasm/walk.ts';

/** Unit of memory whose content is kept whole. */
export const CHUNK_BYTES = 65536;
/** Flags of a byte: it is read before it is written, written, or read only behind that, which may be before it in another order of workgroups. */
export const READ_FIRST = 1;
export const WRITTEN = 2;
export const READ_LATER = 4;

const HIGH_WORD = 2 ** 32;
const NOTHING = new Uint8Array();

/** A part of an allocation that the dispatch touched. */
export interface TouchedChunk {
  /** Bytes from the allocation's start; a multiple of CHUNK_BYTES. */
  readonly offset: number;
  /** What was there before the dispatch; empty when that is not kept. */
  readonly before: Uint8Array;
  /** READ_FIRST, WRITTEN and READ_LATER of each byte. */
  readonly flags: Uint8Array;
}

/** A touched allocation. Its bytes are live until the dispatch ends. */
export interface TouchedRegion {
  readonly region: Region;
  /** By chunk number. */
  readonly chunks: Map<number, TouchedChunk>;
}

/** A read of bytes that `isKnown` denies: nothing had written them, and nobody says what they hold. */
export interface UnknownRead {
  readonly address: number;
  readonly bytes: number;
  /** Byte offset of the instruction in the image. */
  readonly pc: number;
  readonly workgroup: readonly [number, number, number];
  readonly wavefront: number;
}

export interface TouchedOptions {
  /** Bytes of the kernarg segment: they count as read, also by a kernel whose arguments the hardware preloads. */
  readonly kernargSize?: number | undefined;
  /** False: only the flags are kept, not what was there before. */
  readonly keepsBefore?: boolean | undefined;
  /** Bytes of chunks that are kept at most: a dispatch that touches more is not followed any further. Default: no limit. */
  readonly mostBytes?: number | undefined;
  /** Asked about each byte that is read before the dispatch writes it. Default: all bytes are known. */
  readonly isKnown?: ((address: number) => boolean) | undefined;
  /** Called when the dispatch begins. */
  readonly onStart?: ((info: DispatchInfo) => void) | undefined;
  /** Called when the dispatch ends, while its memory is as it left it; also when it failed. */
  readonly onEnd?: ((touched: TouchedBytes, info: DispatchInfo) => void) | undefined;
}

/** Where addresses of an allocation, or of a mapping of it, are: address − `first` is the byte of the allocation. */
interface Place {
  readonly touched: TouchedRegion;
  readonly first: number;
  /** Bytes of the allocation that are visible there. */
  readonly from: number;
  readonly limit: number;
}

/** Unknown reads that are kept, one for each instruction. */
const MAX_UNKNOWN = 16;

/** A monitor that follows the bytes of one dispatch at a time, at the speed of compiled code when it is the only monitor. */
export class TouchedBytes implements Monitor {
  /** By the allocation's address; without memory that came and went with the dispatch. */
  readonly regions = new Map<number, TouchedRegion>();
  /** Mappings of the same memory at other addresses that the dispatch used, by address. */
  readonly aliases = new Map<number, { readonly region: Region; readonly owner: Region }>();
  readonly unknownReads: UnknownRead[] = [];
  /** Byte offsets in the image of the instructions that wrote. */
  readonly writers = new Set<number>();
  /** The dispatch touched more than `mostBytes`, and nothing is kept of it. */
  isTooMuch = false;
  /** Bytes of all chunks. */
  private kept = 0;
  private readonly options: TouchedOptions;
  private readonly unknownSites = new Set<number>();
  private readonly engines = new Map<string, CompiledEngine>();
  /** By pc / 4; null for instructions that touch no global memory. */
  private plans: (AccessPlan | null | undefined)[] = [];
  private planned: LoadedCode | undefined;
  private readonly addresses = new Float64Array(LANES);
  private info: DispatchInfo | undefined;
  private wave: Wave | undefined;
  private live = new Set<number>();
  private last: Place | undefined;

  constructor(options: TouchedOptions = {}) {
    this.options = options;
  }

  private instrument(): Instrument {
    return {
      // Accesses of memory are what they are elsewhere.
      followedStates: INDEXES_REGISTERS,
      imports: {
        touch: (_wave, pc) => this.touch(this.wave as Wave, pc, this.plans[pc >>> 2] ?? null),
      },
      declare: (module) => {
        module.importFunction('env', 'touch', ['i32', 'i32'], []);
      },
      wants: (block, index) => this.planOf(block, index) !== null,
      emit: ({ fn, module, wave, pc }) => {
        fn.get(wave)
          .i32(pc)
          .call(module.importFunction('env', 'touch', ['i32', 'i32'], []));
      },
      enter: (w) => {
        this.wave = w;
      },
      step: (w, pc, bound) => this.before(w, pc, bound),
    };
  }

  private planOf(block: Block, index: number): AccessPlan | null {
    const item = block.items[index];
    if (item === undefined) return null;
    return this.planAt(item.pc, item.instruction);
  }

  private planAt(pc: number, instruction: BoundInstruction['instruction']): AccessPlan | null {
    let plan = this.plans[pc >>> 2];
    if (plan === undefined) {
      const made = accessPlan(instruction, semanticsOf(instruction.row.operation)) ?? null;
      plan = made?.space === 'global' || made?.space === 'flat' ? made : null;
      this.plans[pc >>> 2] = plan;
    }
    return plan;
  }

  private use(loaded: LoadedCode): void {
    if (this.planned === loaded) return;
    this.planned = loaded;
    this.plans = [];
    this.engines.clear();
  }

  engine(job: EngineJob): Engine {
    this.use(job.loaded);
    const { mfma } = job.launch;
    let engine = this.engines.get(mfma);
    if (engine === undefined) {
      engine = new CompiledEngine(job, this.instrument());
      this.engines.set(mfma, engine);
    }
    return engine;
  }

  startDispatch(info: DispatchInfo): void {
    this.use(info.loaded);
    this.info = info;
    this.regions.clear();
    this.aliases.clear();
    this.unknownReads.length = 0;
    this.unknownSites.clear();
    this.writers.clear();
    this.last = undefined;
    this.kept = 0;
    this.isTooMuch = false;
    this.live = new Set(info.memory.snapshot().map(({ base }) => base));
    const { kernargSize = 0, onStart } = this.options;
    onStart?.(info);
    if (kernargSize > 0) this.mark(info.launch.kernarg, kernargSize, 'load', undefined, 0);
  }

  /** Whether memory at an address was allocated when the dispatch began. */
  wasLive(base: number): boolean {
    return this.live.has(base);
  }

  before(w: Wave, pc: number, bound: BoundInstruction): void {
    const at = pc - (this.info as DispatchInfo).loaded.region.base;
    this.touch(w, at, this.planAt(at, bound.instruction));
  }

  endDispatch(): void {
    const { info } = this;
    this.info = undefined;
    this.wave = undefined;
    if (info !== undefined) this.options.onEnd?.(this, info);
  }

  /** An access of one instruction, before it happens. */
  private touch(w: Wave, pc: number, plan: AccessPlan | null): void {
    if (plan === null || (w.vskip && !plan.isScalar)) return;
    plan.prepare(w);
    if (plan.isScalar) {
      for (const piece of plan.pieces(w)) this.mark(plan.address(w, 0, piece), piece.bytes, plan.kind, w, pc);
      return;
    }
    const low = w.sgprs[EXEC] as number;
    const high = w.sgprs[EXEC + 1] as number;
    if ((low | high) === 0) return;
    const { span, addresses: fill } = plan;
    const { addresses } = this;
    if (plan.space === 'global' && span > 0 && fill(w, span, addresses)) {
      this.markLanes(plan, w, pc, low, high);
      return;
    }
    for (const piece of plan.pieces(w)) {
      for (let lane = 0; lane < LANES; lane++) {
        if (!maskBit(low, high, lane)) continue;
        const address = plan.address(w, lane, piece);
        if (address < 0 || (plan.space === 'flat' && isAperture(address))) continue;
        this.mark(address, piece.bytes, plan.kind, w, pc);
      }
    }
  }

  /** Lanes whose bytes follow each other are one range. */
  private markLanes({ span, kind }: AccessPlan, w: Wave, pc: number, low: number, high: number): void {
    const { addresses } = this;
    let start = -1;
    let end = -1;
    for (let lane = 0; lane < LANES; lane++) {
      if (!maskBit(low, high, lane)) continue;
      const at = addresses[lane] as number;
      if (at < 0) continue;
      if (at === end) {
        end += span;
        continue;
      }
      if (start >= 0) this.mark(start, end - start, kind, w, pc);
      start = at;
      end = at + span;
    }
    if (start >= 0) this.mark(start, end - start, kind, w, pc);
  }

  private mark(address: number, bytes: number, kind: AccessPlan['kind'], w: Wave | undefined, pc: number): void {
    if (address < 0 || this.isTooMuch) return;
    const place = this.placeOf(address);
    // What lies outside of live memory faults when the access happens.
    if (place === undefined) return;
    const { touched, first, limit } = place;
    const { region } = touched;
    const start = address - first;
    const end = Math.min(start + bytes, limit);
    for (let at = start; at < end; ) {
      const chunk = this.chunkAt(touched, Math.floor(at / CHUNK_BYTES));
      if (chunk === undefined) return;
      const to = Math.min(end - chunk.offset, CHUNK_BYTES);
      const from = at - chunk.offset;
      if (kind !== 'store') this.markRead(chunk, region, from, to, w, pc);
      if (kind !== 'load') {
        const { flags } = chunk;
        for (let i = from; i < to; i++) flags[i] = (flags[i] as number) | WRITTEN;
        this.writers.add(pc);
      }
      at = chunk.offset + to;
    }
    // A range of lanes may go on in the next allocation.
    if (start + bytes > limit) this.mark(first + limit, start + bytes - limit, kind, w, pc);
  }

  private markRead(
    { flags, offset }: TouchedChunk,
    { base }: Region,
    from: number,
    to: number,
    w: Wave | undefined,
    pc: number,
  ): void {
    const { isKnown } = this.options;
    for (let i = from; i < to; i++) {
      if (flags[i] === WRITTEN) flags[i] = WRITTEN | READ_LATER;
      if (flags[i] !== 0) continue;
      flags[i] = READ_FIRST;
      if (isKnown !== undefined && !isKnown(base + offset + i)) this.unknown(base + offset + i, w, pc);
    }
  }

  private unknown(address: number, w: Wave | undefined, pc: number): void {
    const last = this.unknownReads.at(-1);
    if (last !== undefined && last.pc === pc && last.address + last.bytes === address) {
      this.unknownReads[this.unknownReads.length - 1] = { ...last, bytes: last.bytes + 1 };
      return;
    }
    if (this.unknownSites.has(pc) || this.unknownReads.length >= MAX_UNKNOWN) return;
    this.unknownSites.add(pc);
    const workgroup = w?.workgroup.id ?? ([0, 0, 0] as const);
    this.unknownReads.push({ address, bytes: 1, pc, workgroup, wavefront: w?.index ?? 0 });
  }

  private placeOf(address: number): Place | undefined {
    const { last } = this;
    if (last !== undefined && address - last.first >= last.from && address - last.first < last.limit) return last;
    const { memory } = this.info as { readonly memory: DeviceMemory };
    const region = memory.find(address, 1);
    if (region === undefined || !this.live.has(region.base)) return undefined;
    const owner = memory.ownerOf(region);
    if (owner !== region) this.aliases.set(region.base, { region, owner });
    let touched = this.regions.get(owner.base);
    if (touched === undefined) {
      touched = { region: owner, chunks: new Map() };
      this.regions.set(owner.base, touched);
    }
    const from = region.offset - owner.offset;
    this.last = { touched, first: region.base - from, from, limit: from + region.size };
    return this.last;
  }

  /** Undefined when it is one too many. */
  private chunkAt({ region, chunks }: TouchedRegion, n: number): TouchedChunk | undefined {
    let chunk = chunks.get(n);
    if (chunk === undefined) {
      const offset = n * CHUNK_BYTES;
      const length = Math.min(CHUNK_BYTES, region.size - offset);
      const { keepsBefore, mostBytes = Number.POSITIVE_INFINITY } = this.options;
      this.kept += length;
      if (this.kept > mostBytes) {
        this.isTooMuch = true;
        this.regions.clear();
        this.last = undefined;
        return undefined;
      }
      const { memory } = this.info as { readonly memory: DeviceMemory };
      const before = keepsBefore === false ? NOTHING : memory.copyOf(region, offset, length);
      chunk = { offset, before, flags: new Uint8Array(length) };
      chunks.set(n, chunk);
    }
    return chunk;
  }
}

function isAperture(address: number): boolean {
  const high = Math.floor(address / HIGH_WORD);
  return high === SHARED_APERTURE_HIGH || high === PRIVATE_APERTURE_HIGH;
}
