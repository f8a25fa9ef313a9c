// What a probe is: the memory it keeps, where it puts code into a program and which code, and what it makes of the memory afterwards.
import { WavesmithError } from '../base/index.ts';
import type { Body } from './body.ts';
import type { StateReader, StateShapes } from './state.ts';
import type { ProbeBlock, ProbeEdge, ProbeInstruction, ProbeKernel, ProbeProgram } from './view.ts';

/** Writes the code of one point. */
export type Write<S extends StateShapes> = (body: Body<S>) => void;

/** Puts code at points. A point that cannot be reached safely is left out and reported with its reason. */
export interface Points<S extends StateShapes> {
  before(instruction: ProbeInstruction, write: Write<S>): void;
  /** Behind the instruction: what it wrote can be read. Of a branch: when it is not taken. */
  after(instruction: ProbeInstruction, write: Write<S>): void;
  /** Once whenever a block runs, wherever in the block that is cheapest. */
  entry(block: ProbeBlock, write: Write<S>): void;
  /** When a direct branch is taken. */
  taken(branch: ProbeInstruction, write: Write<S>): void;
  /** Whenever a block leads to another this way. Not of jumps to computed addresses. */
  edge(edge: ProbeEdge, write: Write<S>): void;
  /** In the instruction's place. Not of branches, calls, `s_getpc_b64` and ends of waves. */
  replace(instruction: ProbeInstruction, write: Write<S>): void;
  /** Leaves the instruction out. */
  remove(instruction: ProbeInstruction): void;
  kernelEntry(kernel: ProbeKernel, write: Write<S>): void;
  /** Before every s_endpgm of a kernel. */
  kernelExit(kernel: ProbeKernel, write: Write<S>): void;
}

/** What a report may ask for. */
export interface ReportContext<S extends StateShapes> {
  readonly program: ProbeProgram;
  readonly state: { readonly [K in keyof S]: StateReader<S[K]> };
}

/** A probe: counters and records, the points that fill them, and what they mean. */
export interface ProbeDefinition<S extends StateShapes = StateShapes> {
  readonly name: string;
  /** What the probe is, so that what it gave can be kept: its source, or a hash of it; set by whoever loads it. */
  readonly source?: string;
  /** One sentence for lists. */
  readonly summary: string;
  readonly state: S;
  /** Settings that whoever runs the probe may give as text (`--set name=value`), each with its meaning and what it is otherwise. */
  readonly settings?: Readonly<Record<string, { readonly summary: string; readonly value: string }>>;
  instrument(context: {
    readonly program: ProbeProgram;
    readonly at: Points<S>;
    readonly settings: Readonly<Record<string, string>>;
  }): void;
  /** JSON-able: what the probe found. */
  report(context: ReportContext<S>): Readonly<Record<string, unknown>>;
  /** The report as lines of text; JSON when absent. */
  /** What `--export FILE` writes: the report in the format of another program. */
  export?(report: Readonly<Record<string, unknown>>): string;
  text?(report: Readonly<Record<string, unknown>>): readonly string[];
}

/** Declares a probe, with the names of its state checked against their uses. */
export function defineProbe<S extends StateShapes>(probe: ProbeDefinition<S>): ProbeDefinition<S> {
  return probe;
}

/** A setting whose value a probe does not understand. */
export function settingError(probe: string, name: string, value: string, why: string): WavesmithError {
  return new WavesmithError('probe/setting', `The setting ${name}=${value} of '${probe}' cannot be followed: ${why}.`);
}
