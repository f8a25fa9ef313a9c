// The token stream of a raw gfx9 thread trace (`.att` blob of SQTT, MI200 to MI350): header, token lengths, time.
// Source: ROCm/rocm-systems projects/rocprof-trace-decoder, source/gfx9/gfx9token.h (MIT since February 2026).
import { WavesmithError } from '../../base/index.ts';
import type { ByteSource } from '../source.ts';
import { HEADER_BYTES, Misc, TOKEN_BYTES, Token } from './layout.ts';
import { PacketRhythm, type RhythmBreaks } from './rhythm.ts';

export interface SqttHeader {
  /** 4: MI200, 5: MI300, 6: MI350. */
  readonly version: number;
  readonly simdMask: number;
  /** The CU whose instructions are traced; some producers write it wrong, see waves.ts. */
  readonly targetCu: number;
  readonly shaderEngine: number;
}

/** Whether bytes start with the header that software puts before a gfx9 trace. */
export function isSqtt(bytes: Uint8Array): boolean {
  if (bytes.length < HEADER_BYTES) return false;
  const low = bytes[0] | (bytes[1] << 8);
  const version = low >> 13;
  const legacy = low & 0x1fff;
  return (legacy === 0 || legacy === 0x11) && version >= 4 && version <= 6;
}

/** Reads the header; throws `sqtt/not-gfx9` when it is not one. */
export function readSqttHeader(bytes: Uint8Array, file: string): SqttHeader {
  if (!isSqtt(bytes)) {
    throw new WavesmithError('sqtt/not-gfx9', `${file} does not start with the header of a gfx9 thread trace.`, {
      file,
      byteOffset: 0,
      hint: 'Only raw traces of MI200, MI300 and MI350 are decoded.',
    });
  }
  const low = bytes[0] | (bytes[1] << 8) | (bytes[2] << 16) | (bytes[3] << 24);
  return {
    version: (low >>> 13) & 7,
    simdMask: (low >>> 16) & 0xf,
    targetCu: (low >>> 20) & 0x1f,
    shaderEngine: (low >>> 26) & 0x3f,
  };
}

/** Receives every token with its time in cycles and its bits, `low` 0–31 and `high` 32–63. */
export interface TokenSink {
  token(type: number, time: number, low: number, high: number): void;
}

export interface TokenSummary {
  readonly tokens: number;
  readonly counts: Float64Array;
  /** Bytes at the end that are too few for the token they start. */
  readonly trailingBytes: number;
  readonly lastTime: number;
  /** Tokens whose time was before the one before, or time stamps before the time that the deltas add up to: never in a good trace. */
  readonly backwards: number;
  /** Resets without a time stamp before the next one, and stamps without a reset: never in a good trace. */
  readonly unpairedTimes: number;
  /** What contradicts how the hardware writes its packets. */
  readonly rhythm: RhythmBreaks;
}

const WINDOW = 4 << 20;
/** A time stamp further away than this from its reset is not looked for. */
const MAX_LOOKAHEAD = 1 << 20;

/** Decodes the tokens of a trace after its header, in windows, so that memory does not grow with the file. */
export function decodeTokens(source: ByteSource, sink: TokenSink): TokenSummary {
  const decoder = new TokenDecoder(source, sink);
  return decoder.run();
}

class TokenDecoder {
  private readonly source: ByteSource;
  private readonly sink: TokenSink;
  private bytes: Uint8Array = new Uint8Array(0);
  /** File offset of bytes[0]. */
  private origin = HEADER_BYTES;
  private at = 0;
  private time = 0;
  private base: number | undefined;
  /** File offset of a TIME token that a reset has consumed. */
  private consumed = -1;
  private unpairedTimes = 0;
  private earlyStamps = 0;
  private readonly rhythm = new PacketRhythm();

  constructor(source: ByteSource, sink: TokenSink) {
    this.source = source;
    this.sink = sink;
  }

  /** Makes bytes available from the current position on; false when the file has no more. */
  private refill(): boolean {
    const next = this.origin + this.bytes.length;
    if (next >= this.source.size) return false;
    const fresh = this.source.read(next, WINDOW);
    if (fresh.length === 0) return false;
    const rest = this.bytes.length - this.at;
    const bigger = new Uint8Array(rest + fresh.length);
    bigger.set(this.bytes.subarray(this.at));
    bigger.set(fresh, rest);
    this.origin += this.at;
    this.at = 0;
    this.bytes = bigger;
    return true;
  }

  run(): TokenSummary {
    const counts = new Float64Array(16);
    let tokens = 0;
    let backwards = 0;
    let lastTime = 0;
    for (;;) {
      if (this.bytes.length - this.at < 8) this.refill();
      const { bytes, at } = this;
      const left = bytes.length - at;
      if (left === 0) break;
      const first = bytes[at];
      const type = first & 15;
      const length = TOKEN_BYTES[type];
      if (left < length) break;
      this.at = at + length;
      let low = first | (bytes[at + 1] << 8);
      let high = 0;
      if (length > 2) {
        low |= (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
        if (length > 4) {
          high = bytes[at + 4] | (bytes[at + 5] << 8);
          if (length > 6) high |= (bytes[at + 6] << 16) | (bytes[at + 7] << 24);
        }
      }
      counts[type]++;
      tokens++;
      if (type === Token.TIME) {
        if (this.origin + at !== this.consumed) {
          this.time += ((first >> 4) & 1) * 4;
          this.unpairedTimes++;
        }
        this.rhythm.token(type, low & 0xffff, 0, this.origin + at);
        continue;
      }
      const delta = type === Token.MISC ? (low >> 4) & 0xff : (first >> 4) & 1;
      this.rhythm.token(type, low & 0xffff, delta, this.origin + at);
      this.time += delta * 4;
      if (type === Token.MISC && ((low >> 13) & 7) === Misc.TIME_RESET) this.patchTime();
      if (this.time < lastTime) backwards++;
      lastTime = this.time;
      this.sink.token(type, this.time, low, high);
    }
    return {
      tokens,
      counts,
      trailingBytes: this.bytes.length - this.at,
      lastTime,
      backwards: Math.max(backwards, this.earlyStamps),
      unpairedTimes: this.unpairedTimes,
      rhythm: this.rhythm.finish(this.source.size),
    };
  }

  /** A reset is followed by the TIME token that gives the true time; the tokens between already run from it. */
  private patchTime(): void {
    let ahead = 0;
    for (;;) {
      if (this.bytes.length - this.at - ahead < 8 && this.bytes.length - this.at < MAX_LOOKAHEAD) this.refill();
      const at = this.at + ahead;
      const { bytes } = this;
      if (at >= bytes.length || ahead >= MAX_LOOKAHEAD) {
        this.unpairedTimes++;
        return;
      }
      const type = bytes[at] & 15;
      const length = TOKEN_BYTES[type];
      if (at + length > bytes.length) return;
      if (type === Token.TIME) {
        const stamp =
          bytes[at + 2] +
          bytes[at + 3] * 2 ** 8 +
          bytes[at + 4] * 2 ** 16 +
          bytes[at + 5] * 2 ** 24 +
          bytes[at + 6] * 2 ** 32 +
          bytes[at + 7] * 2 ** 40;
        this.base ??= stamp - this.time + 4;
        const time = stamp - this.base;
        // A stamp before the first one cannot be: the time runs on from where it was.
        if (time < this.time - 4 && this.consumed >= 0) this.earlyStamps++;
        if (time > 0) this.time = time - (time % 4);
        else if (time < -4) this.unpairedTimes++;
        this.consumed = this.origin + at;
        return;
      }
      if (type === Token.MISC && bytes[at + 1] >> 5 === Misc.TIME_RESET) {
        this.unpairedTimes++;
        return;
      }
      ahead += length;
    }
  }
}
