// The run tools of one dispatch together: from what the user asked for to the monitors of the dispatch and their reports.
import { type CodeObject, debugLines } from '../../../codeobject/index.ts';
import type { ArgumentValue, DeviceKernel } from '../../device.ts';
import { explicitArguments } from '../dispatch/kernargs.ts';
import type { Monitor } from '../dispatch/monitor.ts';
import { isSimKernel, noTools, type SimKernel } from '../module.ts';
import { type CounterValue, deriveCounters } from './counters.ts';
import { CountingMonitor } from './counts.ts';
import { parsePcFilter, parseWaveFilter, parseWorkgroupFilter } from './filter.ts';
import { hasLdsBankModel, type LdsBankCount, LdsBankMonitor } from './lds-banks.ts';
import { deriveProfile, type Profile } from './profile.ts';
import type { LaneDetail } from './registers.ts';
import { Stepper } from './stepper.ts';
import type { StepperArgument, StepperTerminal } from './stepper-state.ts';
import { CodeSymbols, type SourceLocation } from './symbols.ts';
import { type TraceEvent, TraceMonitor } from './trace.ts';
import { deriveTraffic, type Traffic, type TrafficSpace } from './traffic.ts';

/** What to do while the kernel runs. Places are addresses, labels, or `+N` from the kernel's start. */
export interface ToolRequest {
  readonly trace?:
    | {
        /** `X[,Y[,Z]]`, each N, FIRST-LAST or `*`. */
        readonly workgroup?: string | undefined;
        /** N or FIRST-LAST. */
        readonly wave?: string | undefined;
        /** PLACE or PLACE..PLACE. */
        readonly pc?: string | undefined;
        readonly lanes?: LaneDetail | undefined;
        readonly limit?: number | undefined;
        readonly sink: (event: TraceEvent) => void;
      }
    | undefined;
  readonly counters?: boolean | undefined;
  readonly profile?: boolean | undefined;
  readonly stepper?: { readonly breakpoints: readonly string[]; readonly terminal: StepperTerminal } | undefined;
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
  readonly stepper: Stepper | undefined;
  private readonly kernel: SimKernel;
  private readonly symbols: CodeSymbols;
  private readonly sourceOf: (pc: number) => SourceLocation | undefined;
  private readonly counting: CountingMonitor | undefined;
  private readonly banks: LdsBankMonitor | undefined;
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
    const { trace, stepper } = request;
    if (request.counters === true || request.profile === true) {
      this.counting = new CountingMonitor(base);
      monitors.push(this.counting);
    }
    if (request.counters === true && hasLdsBankModel(target)) {
      this.banks = new LdsBankMonitor(base);
      monitors.push(this.banks);
    }
    // The stepper comes before the trace: what a command changes is then part of the traced state.
    if (stepper !== undefined) {
      this.stepper = new Stepper({
        target,
        symbols: this.symbols,
        terminal: stepper.terminal,
        code: region,
        breakpoints: stepper.breakpoints.map((text) => this.symbols.resolveInstruction(text)),
        arguments: () => this.arguments(),
        sourceOf: this.sourceOf,
      });
      monitors.push(this.stepper);
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
            pc: trace.pc === undefined ? undefined : parsePcFilter(trace.pc, this.symbols),
          },
          lanes: trace.lanes ?? 'few',
          limit: trace.limit,
          sink: trace.sink,
        }),
      );
    }
    this.monitors = monitors;
  }

  /** Tells the stepper what the arguments are, so that memory can be shown by their names. */
  setArguments(values: readonly ArgumentValue[]): void {
    this.values = values;
  }

  private arguments(): StepperArgument[] {
    return explicitArguments(this.kernel).map(({ name }, i) => {
      const value = this.values[i];
      const isBuffer = typeof value === 'object' && !(value instanceof Uint8Array);
      return { name: name ?? '', address: isBuffer ? value.address : undefined, size: isBuffer ? value.size : 0 };
    });
  }

  /** The counters so far; undefined when they were not asked for. */
  counters(): CountersReport | undefined {
    if (this.counting === undefined) return undefined;
    const counts = this.counting.counts();
    const { spaces, formatted } = deriveTraffic(counts);
    return {
      counters: deriveCounters(counts, this.kernel.module.target),
      bytes: spaces,
      formattedAccesses: formatted,
      ...(this.banks === undefined ? {} : { ldsBankModel: this.banks.result() }),
    };
  }

  /** The profile so far; undefined when it was not asked for. */
  profile(): Profile | undefined {
    if (this.counting === undefined) return undefined;
    return deriveProfile(this.counting.counts(), this.kernel.module.target, this.symbols, this.sourceOf);
  }
}
