// Turns what a check saw into a diagnostic: instruction text, source line, wavefront, allocation. One place for all checks.
import type { DebugLines } from '../../../codeobject/index.ts';
import type { Program } from '../interpreter/program.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import {
  type Diagnostic,
  type DiagnosticCode,
  type DiagnosticLog,
  type NearAllocation,
  type OtherInstruction,
  StrictStop,
} from './diagnostics.ts';

/** What the checks need to know of a running dispatch. */
export interface StrictDispatch {
  readonly kernelName: string;
  readonly program: Program;
  readonly memory: DeviceMemory;
  readonly lines: DebugLines | undefined;
  readonly grid: readonly [number, number, number];
}

/** What a check adds to the place. */
export interface FindingDetails {
  readonly message: string;
  readonly fix: string;
  readonly lane?: number | undefined;
  readonly space?: Diagnostic['space'];
  readonly address?: number | undefined;
  readonly registers?: readonly string[];
  readonly other?: OtherInstruction | undefined;
  readonly allocation?: NearAllocation | undefined;
}

export class Reporter {
  readonly log: DiagnosticLog;
  readonly dispatch: StrictDispatch;

  constructor(log: DiagnosticLog, dispatch: StrictDispatch) {
    this.log = log;
    this.dispatch = dispatch;
  }

  /** Text of the instruction at an address of the code object. */
  text(pc: number): string {
    const { program } = this.dispatch;
    return program.textAt(program.region.base + pc);
  }

  /** Reports a finding at an instruction, `details` being asked for only when it is new. */
  report(code: DiagnosticCode, w: Wave | undefined, pc: number | undefined, details: () => FindingDetails): void {
    if (this.log.countKnown(code, pc)) return;
    this.log.add(this.diagnostic(code, w, pc, details()));
  }

  /** Reports a finding after which the run cannot go on. */
  fatal(code: DiagnosticCode, w: Wave | undefined, pc: number | undefined, details: () => FindingDetails): never {
    throw new StrictStop(this.log.add(this.diagnostic(code, w, pc, details())));
  }

  private diagnostic(code: DiagnosticCode, w: Wave | undefined, pc: number | undefined, details: FindingDetails) {
    return {
      code,
      kernel: this.dispatch.kernelName,
      pc,
      instruction: pc === undefined ? undefined : this.text(pc),
      workgroup: w?.workgroup.id,
      wavefront: w?.index,
      source: pc === undefined ? undefined : this.dispatch.lines?.at(pc),
      ...details,
    };
  }

  /** Another instruction of a finding. */
  other(pc: number, wavefront?: number, workgroup?: readonly [number, number, number]): OtherInstruction | undefined {
    return pc < 0 ? undefined : { pc, instruction: this.text(pc), workgroup, wavefront };
  }

  /** The live allocation nearest to an address. */
  near(address: number): NearAllocation | undefined {
    const found = this.dispatch.memory.nearest(address);
    if (found === undefined) return undefined;
    const { region, distance } = found;
    return { label: region.label, base: region.base, size: region.size, distance };
  }

  /** Ids of a workgroup by its linear number. */
  workgroupId(linear: number): [number, number, number] {
    const [x, y] = this.dispatch.grid;
    return [linear % x, Math.floor(linear / x) % y, Math.floor(linear / (x * y))];
  }
}
