// A raw thread trace file to a ThreadTrace: waves decoded, stitched to code where given, summed per instruction.
import { WavesmithError } from '../../base/index.ts';
import type { OccupancyEvent, ThreadTrace, TraceLine, TraceWave, WaveInstruction } from '../recording.ts';
import type { ByteSource } from '../source.ts';
import { inferBases, type LoadedCode } from './code.ts';
import { type StitchResult, stitchWave } from './stitch.ts';
import { decodeTokens, HEADER_BYTES, readSqttHeader, type SqttHeader, type TokenSummary } from './tokens.ts';
import { CATEGORY_NAMES, Category, type SqttWave, WaveBuilder, type WaveCounts } from './waves.ts';

export interface SqttOptions {
  /** The code objects that the traced kernels may come from. */
  readonly codes?: readonly LoadedCode[];
  /** Load address, when there is one code object; found from the kernel entries when not given. */
  readonly base?: number | undefined;
  /** Waves kept with all their instructions; further waves only add to the sums. */
  readonly maxWaves?: number;
}

export interface SqttResult {
  readonly trace: ThreadTrace;
  readonly header: SqttHeader;
  /** The CU that the instructions belong to; differs from the header's when that one cannot be. */
  readonly targetCu: number;
  readonly tokens: TokenSummary;
  readonly counts: WaveCounts;
  readonly base: number | undefined;
  readonly stitched: {
    readonly waves: number;
    readonly matched: number;
    readonly total: number;
    readonly ended: number;
  };
  /** Reasons why waves were not matched to the end, with the number of waves. */
  readonly problems: ReadonlyMap<string, number>;
}

const MAX_OCCUPANCY = 1 << 20;

/** A code object at a load address; kernels of several may run in one trace. */
interface Place {
  readonly index: number;
  readonly code: LoadedCode;
  readonly base: number;
}

/** Lines of all code objects in one number space: the object's index above its addresses. */
const PER_OBJECT = 2 ** 44;

interface LineSum {
  readonly line: { text: string; address: number; codeObject: number; kernel: string | undefined };
  hits: number;
  latency: number;
  stall: number;
  idle: number;
}

/** Decodes one raw gfx9 trace. */
export function readSqtt(source: ByteSource, options: SqttOptions = {}): SqttResult {
  const header = readSqttHeader(source.read(0, HEADER_BYTES).slice(), source.path);
  const first = decode(source, header, header.targetCu, options);
  const { candidates } = first.builder;
  const wrong = first.builder.counts.instructionTokens > 0 && ((candidates >> header.targetCu) & 1) === 0;
  if (!wrong || candidates === 0) return first.result();
  return decode(source, header, 31 - Math.clz32(candidates & -candidates), options).result();
}

function decode(source: ByteSource, header: SqttHeader, targetCu: number, options: SqttOptions) {
  const collector = new Collector(source.path, header, options);
  const builder = new WaveBuilder(header, targetCu, collector);
  const tokens = decodeTokens(source, builder);
  builder.finish();
  return {
    builder,
    result: (): SqttResult => ({
      trace: collector.trace(builder.counts),
      header,
      targetCu,
      tokens,
      counts: builder.counts,
      base: collector.base,
      stitched: collector.stitched,
      problems: collector.problems,
    }),
  };
}

class Collector {
  readonly stitched = { waves: 0, matched: 0, total: 0, ended: 0 };
  readonly problems = new Map<string, number>();
  base: number | undefined;
  private readonly waves: TraceWave[] = [];
  private readonly occupancyEvents: OccupancyEvent[] = [];
  private readonly sums = new Map<number, LineSum>();
  private readonly order: number[] = [];
  private readonly places = new Map<number, Place>();
  private omitted = 0;
  private readonly path: string;
  private readonly header: SqttHeader;
  private readonly options: SqttOptions;

  constructor(path: string, header: SqttHeader, options: SqttOptions) {
    this.path = path;
    this.header = header;
    this.options = options;
  }

  occupancy(event: OccupancyEvent): void {
    if (this.occupancyEvents.length < MAX_OCCUPANCY) this.occupancyEvents.push(event);
  }

  /** Where the program at this address comes from: the place that matches the wave best, if any does. */
  private place(wave: SqttWave, program: number): { place: Place; result: StitchResult } | undefined {
    const known = this.places.get(program);
    if (known !== undefined) return { place: known, result: stitchWave(wave, known.code, known.base) };
    let best: { place: Place; result: StitchResult } | undefined;
    for (const [index, code] of (this.options.codes ?? []).entries()) {
      const bases = this.options.base === undefined ? inferBases(code, program) : [this.options.base];
      for (const base of bases) {
        const result = stitchWave(wave, code, base);
        if (best === undefined || result.matched > best.result.matched) best = { place: { index, code, base }, result };
      }
    }
    if (best !== undefined && best.result.matched > 0) this.places.set(program, best.place);
    return best;
  }

  wave(wave: SqttWave): void {
    const program = wave.addresses[0]?.index === 0 ? wave.addresses[0].address : undefined;
    const found = program === undefined ? undefined : this.place(wave, program);
    let lines: (number | undefined)[] = [];
    if (found !== undefined) {
      const { place, result } = found;
      this.base ??= place.base;
      this.stitched.waves++;
      this.stitched.matched += result.matched;
      this.stitched.total += result.total;
      if (result.ended) this.stitched.ended++;
      if (result.stopped !== undefined) {
        this.problems.set(result.stopped, (this.problems.get(result.stopped) ?? 0) + 1);
      }
      lines = result.lines.map((line) => line && place.index * PER_OBJECT + line.address);
      this.addSums(wave, lines, place);
    }
    if (this.waves.length >= (this.options.maxWaves ?? 256)) {
      this.omitted++;
      return;
    }
    this.waves.push({
      shaderEngine: this.header.shaderEngine,
      cu: wave.cu,
      simd: wave.simd,
      slot: wave.slot,
      id: wave.id,
      begin: wave.begin,
      end: wave.end,
      instructions: wave.time.map(
        (time, i): WaveInstruction => ({
          time,
          category: CATEGORY_NAMES[wave.category[i]],
          stall: wave.stall[i],
          duration: wave.duration[i],
          line: lines[i] ?? -1,
        }),
      ),
      timeline: wave.timeline,
    });
  }

  private addSums(wave: SqttWave, lines: readonly (number | undefined)[], { code, index }: Place): void {
    let previousEnd = wave.begin;
    for (let i = 0; i < wave.time.length; i++) {
      if (wave.category[i] === Category.REPLAY) continue;
      const end = wave.time[i] + wave.duration[i];
      const key = lines[i];
      if (key !== undefined) {
        let sum = this.sums.get(key);
        if (sum === undefined) {
          const address = key - index * PER_OBJECT;
          const text = code.line(address)?.text ?? '';
          sum = {
            line: { text, address, codeObject: index, kernel: code.functionAt(address)?.name },
            hits: 0,
            latency: 0,
            stall: 0,
            idle: 0,
          };
          this.sums.set(key, sum);
          this.order.push(key);
        }
        // The exit of a barrier is part of the same execution of the instruction.
        if (i === 0 || lines[i - 1] !== key || wave.category[i] !== Category.IMMED) sum.hits++;
        sum.latency += wave.duration[i];
        sum.stall += wave.stall[i];
        sum.idle += Math.max(0, wave.time[i] - previousEnd);
      }
      previousEnd = Math.max(previousEnd, end);
    }
  }

  trace(counts: WaveCounts): ThreadTrace {
    const sorted = this.order.sort((a, b) => a - b);
    const index = new Map(sorted.map((address, i) => [address, i]));
    const lines = sorted.map((address): TraceLine => {
      const sum = this.sums.get(address);
      if (sum === undefined) throw new WavesmithError('sqtt/internal', 'A line without sums.');
      return {
        text: sum.line.text,
        source: '',
        codeObject: sum.line.codeObject,
        address: sum.line.address,
        hits: sum.hits,
        latency: sum.latency,
        stall: sum.stall,
        idle: sum.idle,
        pcIssued: undefined,
        pcStalled: undefined,
        stallReasons: undefined,
        kernel: sum.line.kernel,
      };
    });
    return {
      source: this.path,
      kind: 'sqtt',
      lines,
      waves: this.waves.map((wave) => ({
        ...wave,
        instructions: wave.instructions.map((i) => ({ ...i, line: index.get(i.line) ?? -1 })),
      })),
      occupancy: this.occupancyEvents,
      perfCounters: { names: [], samples: counts.perfSamples },
      omittedWaves: this.omitted,
    };
  }
}
