// Tokens to waves: which instruction issued when, how long it stalled and how long it took, and the state of the wave.
// Source: rocprof-trace-decoder source/gfx9/gfx9wave.cpp. An instruction's latency contains its stall; what is left of a
// wave's time is idle. Only the target CU reports instructions; all CUs of the shader engine report wave starts and ends.
import type { OccupancyEvent } from '../records.ts';
import { Misc, Token } from './layout.ts';
import type { SqttHeader, TokenSink } from './tokens.ts';

/** What a token says about the instruction. */
export const Category = {
  PENDING: 0,
  SMEM: 1,
  SALU: 2,
  VMEM: 3,
  FLAT: 4,
  LDS: 5,
  VALU: 6,
  JUMP: 7,
  NEXT: 8,
  IMMED: 9,
  PC: 10,
  MSG: 11,
  REPLAY: 12,
} as const;

/** Names in the order of `Category`. */
export const CATEGORY_NAMES = [
  'pending',
  'SMEM',
  'SALU',
  'VMEM',
  'FLAT',
  'LDS',
  'VALU',
  'JUMP',
  'NEXT',
  'IMMED',
  'PC',
  'MSG',
  'replay',
] as const;

const STATES = ['empty', 'idle', 'exec', 'wait', 'stall'] as const;

/** Category of an INST token's type; -1 for XNACK replays, -2 for the rest. */
const TYPE_CATEGORY = Int8Array.from([
  1, 2, 3, 3, 4, 6, 5, 10, -2, -2, -2, -2, 7, 8, 4, 11, 1, 2, 6, -1, -1, -1, -1, -1, -1, -2, -2, -2, 6, -2, -2, -2,
]);
/** Type of the first attempt that a replay type repeats. */
const REPLAY_OF: Readonly<Record<number, number>> = { 19: 0, 20: 16, 21: 2, 22: 3, 23: 4, 24: 14 };
/** Whether a type can be replayed: the values of `REPLAY_OF`. */
function isReplayable(type: number): boolean {
  return type === 0 || (type >= 2 && type <= 4) || type === 14 || type === 16;
}
/** Cycles between issue and the token, by category: scalar 5, vector 2, the others 1 or 0. */
const PHASE = Uint8Array.from([0, 5, 5, 0, 0, 1, 2, 1, 1, 0, 0, 1, 0]);

/** A wave of the target CU. Instruction arrays run in issue order. */
export interface SqttWave {
  readonly cu: number;
  readonly simd: number;
  readonly slot: number;
  readonly id: number;
  readonly begin: number;
  end: number;
  /** False when the trace ended before the wave. */
  complete: boolean;
  readonly time: number[];
  readonly category: number[];
  readonly stall: number[];
  readonly duration: number[];
  /** [state, cycles] pairs, flattened. */
  readonly timeline: (readonly [string, number])[];
  /** Program addresses: instruction index and byte address; the first is the wave's start. */
  readonly addresses: { readonly index: number; address: number | undefined }[];
}

class LiveWave implements SqttWave {
  readonly time: number[] = [];
  readonly category: number[] = [];
  readonly stall: number[] = [];
  readonly duration: number[] = [];
  readonly timeline: [string, number][] = [];
  readonly addresses: { readonly index: number; address: number | undefined }[] = [];
  end: number;
  complete = false;
  /** INST tokens without an instruction that was issued, and at the end issued ones without a token. */
  unpaired = 0;
  /** INST tokens of a type that gfx9 does not have, and replays of an access that was not issued. */
  unknown = 0;
  private readonly issued: number[] = [];
  private nextIssued = 0;
  private stalls: number[] = [];
  private nextStall = 0;
  /** Last instruction of each type of memory access, for replays. */
  private readonly lastOfType: number[] = [];

  constructor(
    readonly cu: number,
    readonly simd: number,
    readonly slot: number,
    readonly id: number,
    readonly begin: number,
    address: number | undefined,
  ) {
    this.end = begin;
    if (address !== undefined) this.addresses.push({ index: 0, address });
  }

  private push(time: number, category: number, duration: number, stall: number): void {
    this.time.push(time);
    this.category.push(category);
    this.duration.push(duration);
    this.stall.push(stall);
  }

  private spend(state: (typeof STATES)[number], cycles: number): void {
    if (cycles <= 0) return;
    const last = this.timeline[this.timeline.length - 1];
    if (last !== undefined && last[0] === state) last[1] += cycles;
    else this.timeline.push([state, cycles]);
  }

  /** The wave's states from its instructions, as their sums count them: stalled, waiting, executing, and idle between. */
  private lay(): void {
    let at = this.begin;
    for (let i = 0; i < this.time.length; i++) {
      const from = Math.max(at, this.time[i]);
      const end = Math.min(this.end, this.time[i] + this.duration[i]);
      if (end <= from) continue;
      this.spend('idle', from - at);
      const stalled = Math.min(end, Math.max(from, this.time[i] + this.stall[i]));
      this.spend(this.category[i] === Category.IMMED ? 'wait' : 'stall', stalled - from);
      this.spend('exec', end - stalled);
      at = end;
    }
    this.spend('idle', this.end - at);
  }

  /** The earlier instruction ends where the later one begins. */
  private clip(index: number, time: number): void {
    if (time >= this.time[index] + this.duration[index]) return;
    this.duration[index] = Math.max(time - this.time[index], 4);
    this.stall[index] = Math.min(this.stall[index], this.duration[index]);
  }

  /** One 2-bit field of an ISSUE token: 1 stalled, 2 an instruction issued, 3 an immediate one. */
  issue(status: number, time: number): void {
    if (status === 3) {
      let start = time;
      const last = this.time.length - 1;
      if (last >= 0 && this.category[last] !== Category.PENDING) {
        this.clip(last, time);
        start = Math.min(this.time[last] + this.duration[last], time);
      }
      const cycles = 4 + Math.max(0, time - start);
      this.push(start, Category.IMMED, cycles, cycles);
    } else if (status === 1) this.stalls.push(time);
    else {
      this.issued.push(this.time.length);
      this.push(time, Category.PENDING, 0, 0);
    }
  }

  /** An INST token: completes the oldest issued instruction. Returns whether the SIMD's issue phase moved. */
  retire(type: number, time: number, phase: number): boolean {
    if (this.nextIssued >= this.issued.length) {
      this.unpaired++;
      return false;
    }
    const index = this.issued[this.nextIssued++];
    if (this.nextIssued > 1024) {
      this.issued.splice(0, this.nextIssued);
      this.nextIssued = 0;
    }
    let moved = false;
    const before = this.time.length - 2;
    if (before >= 0 && this.time[index] < this.time[before] + this.duration[before]) moved = true;
    if (index > 0) this.clip(index - 1, this.time[index]);
    const category = TYPE_CATEGORY[type];
    if (category < 0) {
      this.replay(type, index, time);
      return moved;
    }
    if (isReplayable(type)) this.lastOfType[type] = index;
    this.category[index] = category;
    if (category === Category.PC) this.addresses.push({ index: index + 1, address: undefined });
    const slots = (((phase + (moved ? 1 : 0) + this.simd) & 3) + PHASE[category]) >> 2;
    this.duration[index] = 4 + Math.max(time - this.time[index] - 4 * slots, 0);
    this.applyStalls(index);
    return moved;
  }

  private applyStalls(index: number): void {
    if (this.nextStall >= this.stalls.length || this.time[index] <= this.stalls[this.nextStall]) return;
    const issue = this.time[index];
    const previousEnd = index > 0 ? this.time[index - 1] + this.duration[index - 1] : 0;
    let start = issue;
    while (this.nextStall < this.stalls.length && issue > this.stalls[this.nextStall]) {
      start = Math.max(this.stalls[this.nextStall++], previousEnd);
    }
    if (this.nextStall > 1024) {
      this.stalls = this.stalls.slice(this.nextStall);
      this.nextStall = 0;
    }
    this.stall[index] = Math.max(issue - start, 0);
    this.duration[index] = Math.max(issue + this.duration[index] - start, 4);
    this.time[index] = start;
  }

  /** XNACK: the instruction is issued again; its first attempt lasts until now. */
  private replay(type: number, index: number, time: number): void {
    this.category[index] = Category.REPLAY;
    const original = REPLAY_OF[type];
    const first = original === undefined ? -1 : (this.lastOfType[original] ?? -1);
    if (first < 0 || first >= index) {
      this.unknown++;
      return;
    }
    this.lastOfType[original] = -1;
    const longer = Math.max(this.duration[first], time + 4 - this.time[first]);
    this.stall[first] += longer - this.duration[first];
    this.duration[first] = longer;
  }

  /** An INST_PC token: where the program goes on. */
  programCounter(address: number): void {
    const open = this.addresses.find((entry) => entry.address === undefined);
    if (open !== undefined) open.address = address;
    else if (this.addresses.length > 0) this.addresses.push({ index: this.time.length, address });
  }

  finish(time: number): void {
    this.end = time + 4;
    this.complete = true;
    this.unpaired += this.issued.length - this.nextIssued;
    this.lay();
  }

  /** Ends a wave that the trace does not end. */
  abandon(): void {
    this.end = this.begin;
    for (let i = 0; i < this.time.length; i++) this.end = Math.max(this.end, this.time[i] + this.duration[i] + 4);
    this.lay();
  }
}

/** What was counted besides the waves. */
export interface WaveCounts {
  starts: number;
  ends: number;
  /** Ends without a start: the trace began in the middle of a wave. */
  endsWithoutStart: number;
  /** Starts in a slot whose wave had not ended. */
  startsInUse: number;
  /** Issued instructions without their INST token, and the other way round, in waves that ended. */
  unpairedInstructions: number;
  /** INST tokens of a type that gfx9 does not have, and replays of an access that was not issued. */
  unknownInstructions: number;
  /** ISSUE tokens that report nothing of any wave. */
  emptyIssues: number;
  /** Waves of all CUs that have no end in the trace. */
  unended: number;
  packetsLost: number;
  contextSaves: number;
  /** Tokens with an impossible wave slot or register, and tokens of instructions or user data without a live wave. */
  strayTokens: number;
  instructionTokens: number;
  perfSamples: number;
  shaderData: number;
  dispatches: number;
}

export interface WaveSink {
  wave(wave: SqttWave): void;
  occupancy?(event: OccupancyEvent): void;
}

/** Builds waves out of tokens. */
export class WaveBuilder implements TokenSink {
  readonly counts: WaveCounts = {
    starts: 0,
    ends: 0,
    endsWithoutStart: 0,
    startsInUse: 0,
    unpairedInstructions: 0,
    unknownInstructions: 0,
    emptyIssues: 0,
    unended: 0,
    packetsLost: 0,
    contextSaves: 0,
    strayTokens: 0,
    instructionTokens: 0,
    perfSamples: 0,
    shaderData: 0,
    dispatches: 0,
  };
  /** Bit per CU that had a live wave in the slot of every instruction token so far. */
  candidates = 0xffff;
  private readonly alive = new Int32Array(64);
  private readonly live: (LiveWave | undefined)[] = new Array(64).fill(undefined);
  private readonly programLow = new Float64Array(8);
  private readonly programHigh = new Float64Array(8);
  /** Whether a wave started on the second shader array. */
  private otherArray = false;
  private phase = 0;
  private ids = 0;
  private readonly header: SqttHeader;
  private readonly target: number;
  private readonly sink: WaveSink;

  constructor(header: SqttHeader, target: number, sink: WaveSink) {
    this.header = header;
    this.target = target;
    this.sink = sink;
  }

  token(type: number, time: number, low: number, high: number): void {
    switch (type) {
      case Token.ISSUE:
        this.issue(time, low);
        break;
      case Token.INST:
        this.instruction(time, low);
        break;
      case Token.WAVE_START:
        this.waveStart(time, low);
        break;
      case Token.WAVE_END:
        this.waveEnd(time, low);
        break;
      case Token.INST_PC: {
        const slot = (low >> 5) & 15;
        const wave = slot > 9 ? undefined : this.live[(((low >> 9) & 3) << 4) | slot];
        const pc = (low >>> 16) + (high >>> 0) * 65536;
        wave?.programCounter(pc * 4);
        break;
      }
      case Token.REG_CS:
      case Token.REG_CS_PRIV:
        this.register(low, high);
        break;
      case Token.MISC: {
        const kind = (low >> 13) & 7;
        if (kind === Misc.PACKET_LOST) this.counts.packetsLost++;
        else if (kind === Misc.SAVE_CONTEXT) this.counts.contextSaves++;
        break;
      }
      case Token.REG:
        // No register that a command stream writes has the address 0.
        if (low >>> 16 === 0) this.counts.strayTokens++;
        break;
      case Token.PERF:
        this.counts.perfSamples++;
        break;
      case Token.SHADERDATA:
        this.counts.shaderData++;
        if (!this.isOfWave(low)) this.counts.strayTokens++;
        break;
    }
  }

  /** Whether the wave that a token names runs; of the other shader array only whether it ever had a wave. */
  private isOfWave(low: number): boolean {
    if (((low >> 5) & 1) !== 0) return this.otherArray;
    return (this.alive[(((low >> 14) & 3) << 4) | ((low >> 10) & 15)] & (1 << ((low >> 6) & 15))) !== 0;
  }

  private issue(time: number, low: number): void {
    const simd = (low >> 5) & 3;
    if (low >>> 8 === 0) this.counts.emptyIssues++;
    for (let slot = 0, bits = low >>> 8; slot < 10 && bits !== 0; slot++, bits >>>= 2) {
      const status = bits & 3;
      if (status === 0) continue;
      const at = (simd << 4) | slot;
      this.candidates &= this.alive[at];
      const wave = this.live[at];
      if (wave === undefined) this.counts.strayTokens++;
      else wave.issue(status, time);
    }
  }

  private instruction(time: number, low: number): void {
    this.counts.instructionTokens++;
    const slot = (low >> 5) & 15;
    const at = (((low >> 9) & 3) << 4) | slot;
    if (slot > 9) {
      this.counts.strayTokens++;
      return;
    }
    this.candidates &= this.alive[at];
    const wave = this.live[at];
    if (wave === undefined) this.counts.strayTokens++;
    else if (wave.retire((low >> 11) & 31, time, this.phase)) this.phase = (this.phase + 1) & 3;
  }

  private waveStart(time: number, low: number): void {
    const cu = (low >> 6) & 15;
    const slot = (low >> 10) & 15;
    const simd = (low >> 14) & 3;
    if (slot > 9) {
      this.counts.strayTokens++;
      return;
    }
    if (((low >> 22) & 0x7f) > 64) {
      this.counts.contextSaves++;
      return;
    }
    this.counts.starts++;
    this.sink.occupancy?.({ time, shaderEngine: this.header.shaderEngine, cu, simd, slot, start: true });
    if (((low >> 5) & 1) !== 0) {
      this.otherArray = true;
      return;
    }
    const at = (simd << 4) | slot;
    if ((this.alive[at] & (1 << cu)) !== 0) this.counts.startsInUse++;
    this.alive[at] |= 1 << cu;
    if (cu !== this.target) return;
    const queue = (((low >> 18) & 1) << 2) | ((low >> 16) & 3);
    const program = (this.programHigh[queue] * 2 ** 32 + this.programLow[queue]) * 256;
    this.live[at] = new LiveWave(cu, simd, slot, this.ids++, time, program === 0 ? undefined : program);
  }

  private waveEnd(time: number, low: number): void {
    const cu = (low >> 6) & 15;
    const slot = (low >> 10) & 15;
    const simd = (low >> 14) & 3;
    if (slot > 9) {
      this.counts.strayTokens++;
      return;
    }
    this.counts.ends++;
    this.sink.occupancy?.({ time, shaderEngine: this.header.shaderEngine, cu, simd, slot, start: false });
    if (((low >> 5) & 1) !== 0) return;
    const at = (simd << 4) | slot;
    if ((this.alive[at] & (1 << cu)) === 0) this.counts.endsWithoutStart++;
    this.alive[at] &= ~(1 << cu);
    const wave = this.live[at];
    if (cu !== this.target || wave === undefined) return;
    this.live[at] = undefined;
    wave.finish(time);
    this.counts.unpairedInstructions += wave.unpaired;
    this.counts.unknownInstructions += wave.unknown;
    this.sink.wave(wave);
  }

  /** Compute registers written by the command processor: program address and dispatch initiator. */
  private register(low: number, high: number): void {
    const address = (low >> 9) & 0x7f;
    const data = ((low >>> 16) | (high << 16)) >>> 0;
    const queue = ((((low >> 7) & 3) + 1) & 1) * 4 + ((low >> 5) & 3);
    if (address === 0x0c) this.programLow[queue] = data;
    else if (address === 0x0d) this.programHigh[queue] = data;
    else if (address === 0 && (data & 1) !== 0) this.counts.dispatches++;
  }

  /** Hands over the waves that never ended. */
  finish(): void {
    for (const cus of this.alive) for (let left = cus; left !== 0; left &= left - 1) this.counts.unended++;
    this.live.forEach((wave, at) => {
      if (wave === undefined) return;
      this.live[at] = undefined;
      wave.abandon();
      this.counts.unknownInstructions += wave.unknown;
      this.sink.wave(wave);
    });
  }
}
