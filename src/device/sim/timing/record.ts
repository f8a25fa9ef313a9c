// Records what sampled workgroups of a launch do: the path of every wave and the cache lines of its accesses. They run on the interpreter
// before the launch itself, and what they store is undone again, so that the launch then runs as if nothing had happened. What they would store into
// memory of the host, which a program may look at meanwhile, they do not store at all.
import { descriptorRegisters } from '../../../codeobject/index.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../apertures.ts';
import { contextOf, type Launch } from '../dispatch/launch.ts';
import { groupId, groupItems, startWave } from '../dispatch/wave-start.ts';
import { KernelStop } from '../interpreter/kernel-stop.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import { gpuWindow } from '../state/layout.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { PlacePool } from '../state/places.ts';
import { MemoryFault } from '../state/region.ts';
import { LANES, Wave } from '../state/wave.ts';
import { Workgroup } from '../state/workgroup.ts';
import { Int32List } from './growing.ts';
import { type CodeInstruction, isLdsRead, isPermutation, type KernelCode } from './kernel-code.ts';
import { ldsPasses, ldsPhases, type Phases } from './lds-phases.ts';

/** Accesses are recorded in sectors of 64 bytes, what the vector cache asks L2 for. */
export const LINE_UNIT_BITS = 6;
/** Sectors of a dword of each lane, when neighbours access neighbours from a sector's start on. */
export const SECTORS_OF_DWORD = 4;
const APERTURE = 2 ** 32;
/** Line numbers from here on are private memory: those of 64 GiB, the most that a device with a clock has. */
const SCRATCH_LINE = 2 ** 30;

/** The sector that a byte of device memory is in. Offsets have up to 36 bits. */
const lineOf = (offset: number): number => Math.floor(offset / 2 ** LINE_UNIT_BITS);

/** One wave's path. */
export interface WaveTrace {
  /** Instruction numbers of the kernel code, in order of execution. */
  readonly path: Int32List;
  /** For each memory instruction of the path: vector and scalar memory a count and that many lines (64 bytes); LDS the passes. */
  readonly accesses: Int32List;
  /** The path ends with the wave, not with the limit. */
  isWhole: boolean;
}

/** A recorded workgroup. */
export interface GroupTrace {
  readonly number: number;
  readonly waves: readonly WaveTrace[];
}

/** What a recorder works on. */
export interface RecordJob {
  readonly memory: DeviceMemory;
  readonly places: PlacePool;
  readonly loaded: LoadedCode;
  readonly launch: Launch;
  readonly code: KernelCode;
}

/** Instructions that a wave runs before the others of its workgroup have their turn. */
const TURN = 2000;

export class Recorder {
  private readonly job: RecordJob;
  private readonly addresses = new Float64Array(LANES);
  private readonly undoAt = new Int32List(1024);
  private readonly undoWord = new Int32List(1024);
  /** Words beyond the window that were overwritten. */
  private readonly undoBeyond: { readonly address: number; readonly word: number }[] = [];
  private words = new Int32Array(0);
  private readonly phases = new Map<number, Phases>();
  private readonly seen = new Int32Array(512);
  private readonly stamp = new Int32Array(512);
  private now = 0;
  private readonly waves = new Map<Uint8Array, Wave>();
  /** Vector registers that the kernel can name. */
  private readonly used: readonly [number, number];
  private scratchBase = SCRATCH_LINE;
  /** Instructions recorded so far. */
  recorded = 0;
  /** The instruction would change memory that the program looks at while kernels run. */
  private isSeenByHost = false;
  /** The same by pages of 4 KB. */
  private readonly seenPages = new Map<number, boolean>();
  /** Why a workgroup could not be followed to its end: the launch will say the same. */
  failure: string | undefined;

  constructor(job: RecordJob) {
    this.job = job;
    const { vgprs, agprs } = descriptorRegisters(job.launch.descriptor);
    this.used = [Math.min(256, Math.max(1, vgprs)), Math.min(256, Math.max(1, agprs))];
  }

  /** Runs one workgroup, at most `limit` instructions of each wave. */
  record(number: number, limit: number): GroupTrace {
    const { launch, places, memory, loaded } = this.job;
    const place = places.take(launch);
    this.words = new Int32Array(memory.wasm.buffer);
    const id = groupId(launch, number);
    const size = groupItems(launch, id);
    memory.clear(place.lds.byteOffset, launch.ldsBytes);
    const group = new Workgroup(contextOf(launch), place.lds.subarray(0, launch.ldsBytes), id);
    if (place.scratch !== undefined) {
      memory.clear(place.scratch.offset, launch.scratchPerWave * launch.wavesPerGroup);
    }
    const count = Math.ceil((size[0] * size[1] * size[2]) / LANES);
    const waves = place.waveBlocks.slice(0, count).map((block, index) => {
      let w = this.waves.get(block);
      if (w === undefined) {
        w = new Wave(memory, group, block);
        this.waves.set(block, w);
      }
      startWave(launch, loaded.region.base, w, group, index, size, place.scratch);
      return w;
    });
    const traces = waves.map((): WaveTrace => ({ path: new Int32List(), accesses: new Int32List(), isWhole: false }));
    try {
      this.runGroup(waves, traces, limit);
    } catch (error) {
      if (!(error instanceof KernelStop || error instanceof MemoryFault)) throw error;
      this.failure = error.message;
    } finally {
      places.give(place);
    }
    return { number, waves: traces };
  }

  private runGroup(waves: readonly Wave[], traces: readonly WaveTrace[], limit: number): void {
    for (let running = true; running; ) {
      running = false;
      waves.forEach((w, index) => {
        const trace = traces[index] as WaveTrace;
        if (!w.isRunning) return;
        this.runWave(w, trace, Math.min(limit, trace.path.length + TURN));
        if (w.isRunning && trace.path.length >= limit) w.state = 'ended';
        running ||= w.isRunning;
      });
      if (running) continue;
      for (const w of waves) {
        if (w.state !== 'barrier') continue;
        w.state = 'running';
        running = true;
      }
    }
    for (const w of waves) w.used = this.used;
  }

  private runWave(w: Wave, trace: WaveTrace, end: number): void {
    const { loaded, code } = this.job;
    const { path } = trace;
    while (path.length < end && w.isRunning) {
      const { pc } = w;
      const bound = loaded.at(pc);
      const instruction = code.at(pc, bound);
      if (instruction.instruction.row.operation.startsWith('s_sendmsg')) {
        w.state = 'ended';
        break;
      }
      path.push(instruction.id);
      this.recorded++;
      this.isSeenByHost = false;
      if (instruction.plan !== undefined && w.vskip && !instruction.plan.isScalar) trace.accesses.push(0);
      else if (instruction.plan !== undefined) this.access(w, instruction, trace);
      else if (instruction.unit === 'lds') trace.accesses.push(isPermutation(instruction.instruction) ? 2 : 0);
      // The launch itself will do what the program sees. Nobody knows yet what an atomic there gives back.
      if (this.isSeenByHost && instruction.returns) {
        w.state = 'ended';
        break;
      }
      w.pc = pc + bound.size;
      if (!instruction.isSkipped && !this.isSeenByHost) bound.step(w);
      w.workgroup.clock++;
      if (instruction.isEnd) trace.isWhole = true;
    }
  }

  private access(w: Wave, instruction: CodeInstruction, trace: WaveTrace): void {
    const { plan } = instruction;
    if (plan === undefined) return;
    plan.prepare(w);
    const pieces = plan.pieces(w);
    if (instruction.unit === 'lds') {
      this.lanes(w, instruction, 0);
      const { chip } = this.job.code;
      const pairs = new Set(pieces.map((p) => p.offset)).size;
      const bytes = Math.min(16, 4 * instruction.dwords) / (pairs > 1 && this.isPair(instruction) ? 2 : 1);
      const read = isLdsRead(instruction.instruction);
      const key = bytes * 2 + (read ? 1 : 0);
      let phases = this.phases.get(key);
      if (phases === undefined) {
        phases = ldsPhases(chip.get('lds.wideBanks'), bytes, read);
        this.phases.set(key, phases);
      }
      let passes = ldsPasses(this.addresses, bytes, phases);
      if (this.isPair(instruction)) passes *= 2;
      trace.accesses.push(passes);
      return;
    }
    const { accesses } = trace;
    const at = accesses.length;
    accesses.push(0);
    if (plan.isScalar) {
      const [first] = pieces;
      if (first === undefined) return;
      const address = plan.address(w, 0, first);
      const offset = address < 0 ? -1 : this.offsetOf(address);
      if (offset >= 0) {
        const last = lineOf(offset + 4 * instruction.dwords - 1);
        for (let line = lineOf(offset); line <= last; line++) accesses.push(line);
        if (plan.kind !== 'load') this.save(address, offset, 4 * instruction.dwords);
      }
      accesses.data[at] = accesses.length - at - 1;
      return;
    }
    this.lanes(w, instruction, 0);
    this.vectorLines(w, instruction, accesses);
    accesses.data[at] = accesses.length - at - 1;
  }

  private isPair({ instruction }: CodeInstruction): boolean {
    return /(?:read2|write2)/.test(instruction.row.operation);
  }

  /** Addresses of the lanes' first piece; NaN where a lane takes no part. */
  private lanes(w: Wave, { plan }: CodeInstruction, which: number): void {
    const { addresses } = this;
    if (plan === undefined) return;
    const piece = plan.pieces(w)[which];
    const isFast = plan.span > 0 && which === 0 && plan.addresses(w, plan.span, addresses);
    for (let lane = 0; lane < LANES; lane++) {
      if (piece === undefined || !w.isActive(lane)) addresses[lane] = Number.NaN;
      else if (!isFast) addresses[lane] = plan.address(w, lane, piece);
    }
  }

  private vectorLines(w: Wave, instruction: CodeInstruction, out: Int32List): void {
    const { addresses } = this;
    const bytes = 4 * instruction.dwords;
    const { space } = instruction.plan ?? { space: 'global' };
    const stores = instruction.stores || instruction.isAtomic;
    this.now++;
    for (let lane = 0; lane < LANES; lane++) {
      const address = addresses[lane] as number;
      if (!(address >= 0)) continue;
      const high = Math.floor(address / APERTURE);
      if (space === 'scratch' || (space === 'flat' && high === PRIVATE_APERTURE_HIGH)) {
        const dword = (address % APERTURE) >>> 2;
        const at = this.scratchBase + w.index * 4096 + 4 * dword + (lane >>> 4);
        this.line(at, out);
        continue;
      }
      if (space === 'flat' && high === SHARED_APERTURE_HIGH) continue;
      const offset = this.offsetOf(address);
      if (offset < 0) continue;
      const last = lineOf(offset + bytes - 1);
      for (let line = lineOf(offset); line <= last; line++) this.line(line, out);
      if (stores) this.save(address, offset, bytes);
    }
  }

  private line(line: number, out: Int32List): void {
    const { seen, stamp, now } = this;
    let at = Math.imul(line, 0x9e3779b1) >>> 23;
    while (stamp[at] === now) {
      if (seen[at] === line) return;
      at = (at + 1) & 511;
    }
    stamp[at] = now;
    seen[at] = line;
    out.push(line);
  }

  /** Byte of the device's memory behind an address, -1 for none. */
  private offsetOf(address: number): number {
    const offset = address - gpuWindow.base;
    if (offset >= 0 && offset < APERTURE) return offset;
    const region = this.job.memory.find(address, 1);
    return region === undefined ? -1 : region.offset + address - region.base;
  }

  /** Keeps the words that an instruction is about to overwrite. */
  private save(address: number, offset: number, bytes: number): void {
    const { undoAt, undoWord, words } = this;
    if (this.isOfHost(address)) {
      this.isSeenByHost = true;
      return;
    }
    if (offset >= APERTURE) {
      this.saveBeyond(address, bytes);
      return;
    }
    const last = (offset + bytes - 1) >>> 2;
    for (let word = offset >>> 2; word <= last; word++) {
      undoAt.push(word);
      undoWord.push(words[word] as number);
    }
  }

  private isOfHost(address: number): boolean {
    const { memory } = this.job;
    if (memory.isSeenByHost === undefined) return false;
    const page = Math.floor(address / 4096);
    let seen = this.seenPages.get(page);
    if (seen === undefined) {
      seen = memory.isSeenByHost(address);
      this.seenPages.set(page, seen);
    }
    return seen;
  }

  private saveBeyond(address: number, bytes: number): void {
    const { memory } = this.job;
    const first = Math.floor(address / 4) * 4;
    for (let at = first; at < address + bytes; at += 4) {
      // The store will say what is wrong with memory that is not there.
      if (memory.find(at, 4) === undefined) return;
      this.undoBeyond.push({ address: at, word: this.words[memory.translate(at, 4, false) >>> 2] as number });
    }
  }

  /** Puts back everything that was stored. */
  undo(): void {
    const { undoAt, undoWord, undoBeyond, words } = this;
    const { memory } = this.job;
    for (const { address, word } of undoBeyond.reverse()) words[memory.translate(address, 4, false) >>> 2] = word;
    undoBeyond.length = 0;
    for (let n = undoAt.length - 1; n >= 0; n--) words[undoAt.data[n] as number] = undoWord.data[n] as number;
    undoAt.length = 0;
    undoWord.length = 0;
  }
}
