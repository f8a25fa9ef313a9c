// The run tools of one dispatch together: from what the user asked for to the monitors of the dispatch and their reports.
import { type CodeObject, debugInfo, debugLines } from '../../../codeobject/index.ts';
import type { ArgumentValue, DeviceKernel } from '../../device.ts';
import { explicitArguments } from '../../kernargs.ts';
import { Debugger } from '../debug/debugger.ts';
import { placesOf } from '../debug/places.ts';
import type { DebugFront, DebuggedArgument } from '../debug/stop.ts';
import type { Monitor } from '../dispatch/monitor.ts';
import { isSimKernel, noTools, type SimKernel } from '../module.ts';
import { type CounterValue, deriveCounters } from './counters.ts';
import { CountingMonitor, type ExecutionCounts } from './counts.ts';
import { parsePcFilter, parseWaveFilter, parseWorkgroupFilter } from './filter.ts';
import { KeptCounter } from './kept-counter.ts';
import { hasLdsBankModel, type LdsBankCount, LdsBankMonitor } from './lds-banks.ts';
import { deriveProfile, type Profile } from './profile.ts';
import type { LaneDetail } from './registers.ts';
import { CodeSymbols, type SourceLocation } from './symbols.ts';
import { TraceMonitor, type TraceSink } from './trace.ts';
import { deriveTraffic, type Traffic, type TrafficSpace } from './traffic.ts';

/** What to do while the kernel runs. Places are addresses, labels, or `+N` from the kernel's start. */
export interface ToolRequest {
  readonly trace?:
    | {
        /** `X[,Y[,Z]]`, each N, FIRST-LAST or `*`. */
        readonly workgroup?: string | undefined;
        /** N or FIRST-LAST. */
        readonly wave?: string | undefined;
        /** PLACE, PLACE..PLACE or FILE:LINE. */
        readonly pc?: string | undefined;
        readonly lanes?: LaneDetail | undefined;
        readonly limit?: number | undefined;
        readonly sink: TraceSink;
      }
    | undefined;
  readonly counters?: boolean | undefined;
  readonly profile?: boolean | undefined;
  readonly debug?: { readonly breakpoints: readonly string[]; readonly front: DebugFront } | undefined;
}

/** The counters of a run. */
export interface CountersReport {
  readonly counters: Readonly<Record<string, CounterValue>>;
  readonly bytes: Partial<Record<TrafficSpace, Traffic>>;
  /** Typed buffer accesses: their bytes depend on descriptors and are not in `bytes`. */
  readonly formattedAccesses: number;
  /** A model, no hardware counter; absent on targets without one. */
  readonly ldsBankModel?: LdsBankCount;
}

/** The tools of one dispatch. */
export class RunTools {
  /** For `DispatchRequest.monitors`; empty when nothing was asked for. */
  readonly monitors: readonly Monitor[];
  readonly debugger: Debugger | undefined;
  private readonly kernel: SimKernel;
  private readonly symbols: CodeSymbols;
  private readonly sourceOf: (pc: number) => SourceLocation | undefined;
  private readonly counting: { counts(): ExecutionCounts } | undefined;
  private readonly ldsBanks: () => LdsBankCount | undefined = () => undefined;
  private values: readonly ArgumentValue[] = [];

  /** Bad filters and places throw here, before anything runs. `codeObject` is what the kernel was loaded from. */
  constructor(kernel: DeviceKernel, codeObject: CodeObject, request: ToolRequest) {
    if (!isSimKernel(kernel)) throw noTools();
    const { loaded } = kernel.module;
    const { region, target } = loaded;
    const { base } = region;
    this.kernel = kernel;
    this.symbols = new CodeSymbols(codeObject, kernel.entry - base, (address) => loaded.decodeAt(address)?.size);
    const lines = debugLines(codeObject.elf);
    this.sourceOf = (pc) => lines?.at(pc);
    const monitors: Monitor[] = [];
    const { trace, debug } = request;
    const counts = request.counters === true || request.profile === true;
    if (counts && trace === undefined && debug === undefined) {
      const counter = new KeptCounter(request.counters === true);
      this.counting = counter;
      this.ldsBanks = () => counter.ldsBanks();
      monitors.push(counter);
    } else if (counts) {
      const counter = new CountingMonitor(base);
      this.counting = counter;
      monitors.push(counter);
      if (request.counters === true && hasLdsBankModel(target)) {
        const banks = new LdsBankMonitor(base);
        this.ldsBanks = () => banks.result();
        monitors.push(banks);
      }
    }
    // The debugger comes before the trace: what a command changes is then part of the traced state.
    if (debug !== undefined) {
      const info = debugInfo(codeObject.elf);
      const names = { symbols: this.symbols, lines, info };
      this.debugger = new Debugger({
        target,
        symbols: this.symbols,
        front: debug.front,
        code: region,
        breakpoints: debug.breakpoints.map((meant) => ({ places: placesOf(names, meant), meant })),
        arguments: () => this.arguments(),
        lines,
        info,
        keepsHistory: monitors.length === 0 && trace === undefined,
      });
      monitors.push(this.debugger);
    }
    if (trace !== undefined) {
      monitors.push(
        new TraceMonitor({
          target,
          base,
          symbols: this.symbols,
          filter: {
            workgroup: trace.workgroup === undefined ? undefined : parseWorkgroupFilter(trace.workgroup),
            wave: trace.wave === undefined ? undefined : parseWaveFilter(trace.wave),
            pc: trace.pc === undefined ? undefined : parsePcFilter(trace.pc, { symbols: this.symbols, lines }),
          },
          lanes: trace.lanes ?? 'few',
          limit: trace.limit,
          sink: trace.sink,
        }),
      );
    }
    this.monitors = monitors;
  }

  /** Tells the debugger what the arguments are, so that memory can be shown by their names. */
  setArguments(values: readonly ArgumentValue[]): void {
    this.values = values;
  }

  private arguments(): DebuggedArgument[] {
    return explicitArguments(this.kernel).map(({ name = '', size }, i): DebuggedArgument => {
      const value = this.values[i];
      if (value instanceof Uint8Array) return { name, address: undefined, size, bytes: value };
      if (typeof value === 'object') return { name, address: value.address, size: value.size, bytes: undefined };
      return { name, address: undefined, size, bytes: value === undefined ? undefined : wholeBytes(value, size) };
    });
  }

  /** The counters so far; undefined when they were not asked for. */
  counters(): CountersReport | undefined {
    if (this.counting === undefined) return undefined;
    const counts = this.counting.counts();
    const { spaces, formatted } = deriveTraffic(counts);
    const ldsBankModel = this.ldsBanks();
    return {
      counters: deriveCounters(counts, this.kernel.module.target),
      bytes: spaces,
      formattedAccesses: formatted,
      ...(ldsBankModel === undefined ? {} : { ldsBankModel }),
    };
  }

  /** The profile so far; undefined when it was not asked for. */
  profile(): Profile | undefined {
    if (this.counting === undefined) return undefined;
    return deriveProfile(this.counting.counts(), this.kernel.module.target, this.symbols, this.sourceOf);
  }
}

/** A whole number as the bytes of an argument. */
function wholeBytes(value: number | bigint, size: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt.asUintN(64, BigInt(value)), true);
  return bytes.slice(0, size);
}
