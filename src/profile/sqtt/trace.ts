// Room `profile/sqtt`: raw gfx9 thread traces (SQTT): tokens, waves, and the instructions they ran.
// Begin with this file, then tokens.ts, waves.ts and stitch.ts in the order in which data goes through them.
//
// A raw thread trace file to a ThreadTrace: waves decoded, stitched to code where given, summed per instruction.
import { kernelName } from '../readers/values.ts';
import type { OccupancyEvent, ThreadTrace, TraceLine, TraceWave, WaveInstruction } from '../records.ts';
import type { ByteSource } from '../source.ts';
import { type CodeLine, inferBases, type LoadedCode } from './code.ts';
import { HEADER_BYTES } from './layout.ts';
import { type StitchResult, stitchWave } from './stitch.ts';
import { decodeTokens, readSqttHeader, type SqttHeader, type TokenSummary } from './tokens.ts';
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
  /** False when most tokens do not fit the given code: the trace then has no lines. */
  readonly fits: boolean;
  /** Executions of an instruction whose token is of another kind than at its other executions. */
  readonly changedKinds: number;
  /** Reasons why waves were not matched to the end, with the number of waves. */
  readonly problems: ReadonlyMap<string, number>;
}

const MAX_OCCUPANCY = 1 << 20;
/** A wrong code object fits by chance up to the first instruction of another kind; the right one fits all of a wave's tokens. */
const LEAST_MATCHED = 0.5;

/** A code object at a load address; kernels of several may run in one trace. */
interface Place {
  readonly index: number;
  readonly code: LoadedCode;
  readonly base: number;
}

/** Sums of the lines of one code object, by the line's number. */
type Sums = (LineSum | undefined)[];

interface LineSum {
  readonly line: CodeLine;
  readonly codeObject: number;
  readonly kernel: string | undefined;
  /** The category of its first token. */
  readonly category: number;
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
      fits: collector.fits,
      changedKinds: collector.changedKinds,
      problems: collector.problems,
    }),
  };
}

/** Whether a category is of a memory instruction: its tokens are the same at each execution. */
const isMemory = (category: number) => category === Category.VMEM || category === Category.FLAT;

class Collector {
  readonly stitched = { waves: 0, matched: 0, total: 0, ended: 0 };
  readonly problems = new Map<string, number>();
  base: number | undefined;
  changedKinds = 0;
  private readonly waves: { readonly wave: TraceWave; readonly lines: readonly (CodeLine | undefined)[] }[] = [];
  private readonly occupancyEvents: OccupancyEvent[] = [];
  private readonly sums: Sums[] = [];
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
      this.addSums(wave, result.lines, place);
    } else if ((this.options.codes ?? []).length > 0) {
      const reason =
        program === undefined
          ? 'the trace does not tell where the wave started'
          : `the given code has no kernel that can be at 0x${program.toString(16)}`;
      this.problems.set(reason, (this.problems.get(reason) ?? 0) + 1);
    }
    if (this.waves.length >= (this.options.maxWaves ?? 256)) {
      this.omitted++;
      return;
    }
    const { cu, simd, slot, id, begin, end, timeline } = wave;
    const instructions = wave.time.map(
      (time, i): WaveInstruction => ({
        time,
        category: CATEGORY_NAMES[wave.category[i]],
        stall: wave.stall[i],
        duration: wave.duration[i],
        line: -1,
      }),
    );
    const { shaderEngine } = this.header;
    this.waves.push({
      wave: { shaderEngine, cu, simd, slot, id, begin, end, instructions, timeline },
      lines: found?.result.lines ?? [],
    });
  }

  private addSums(wave: SqttWave, lines: readonly (CodeLine | undefined)[], { code, index }: Place): void {
    this.sums[index] ??= [];
    const sums = this.sums[index];
    let previousEnd = wave.begin;
    for (let i = 0; i < wave.time.length; i++) {
      if (wave.category[i] === Category.REPLAY) continue;
      const line = lines[i];
      if (line !== undefined) {
        let sum = sums[line.id];
        if (sum === undefined) {
          const entry = code.functionAt(line.address)?.name;
          const kernel = entry === undefined ? undefined : kernelName(entry);
          sum = { line, codeObject: index, kernel, category: wave.category[i], hits: 0, latency: 0, stall: 0, idle: 0 };
          sums[line.id] = sum;
        }
        if (isMemory(wave.category[i]) && wave.category[i] !== sum.category) this.changedKinds++;
        // The exit of a barrier is part of the same execution of the instruction.
        if (i === 0 || lines[i - 1] !== line || wave.category[i] !== Category.IMMED) sum.hits++;
        sum.latency += wave.duration[i];
        sum.stall += wave.stall[i];
        sum.idle += Math.max(0, wave.time[i] - previousEnd);
      }
      previousEnd = Math.max(previousEnd, wave.time[i] + wave.duration[i]);
    }
  }

  /** Whether the code is that of the trace: most instructions of the waves fit it. */
  get fits(): boolean {
    const { matched, total } = this.stitched;
    return total === 0 || matched >= LEAST_MATCHED * total;
  }

  trace(counts: WaveCounts): ThreadTrace {
    const all = this.fits ? this.sums.flat().filter((sum) => sum !== undefined) : [];
    all.sort((a, b) => a.codeObject - b.codeObject || a.line.address - b.line.address);
    const position = new Map(all.map((sum, i) => [sum.line, i]));
    return {
      source: this.path,
      kind: 'sqtt',
      lines: all.map(
        ({ line, codeObject, kernel, hits, latency, stall, idle }): TraceLine => ({
          text: line.text,
          source: '',
          codeObject,
          address: line.address,
          hits,
          latency,
          stall,
          idle,
          pcIssued: undefined,
          pcStalled: undefined,
          stallReasons: undefined,
          kernel,
        }),
      ),
      waves: this.waves.map(({ wave, lines }) => ({
        ...wave,
        instructions: wave.instructions.map((instruction, i) => {
          const line = lines[i];
          return { ...instruction, line: line === undefined ? -1 : (position.get(line) ?? -1) };
        }),
      })),
      occupancy: this.occupancyEvents,
      perfCounters: { names: [], samples: counts.perfSamples },
      omittedWaves: this.omitted,
    };
  }
}
