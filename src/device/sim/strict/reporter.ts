// Turns what a check saw into a finding: instruction text, source line, wavefront, allocation. One place for all checks.
import type { DebugLines } from '../../../codeobject/index.ts';
import type { FindingParts, Place, RelatedPlace, RunRuleId } from '../../../finding/index.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import { type FindingLog, type NearAllocation, type RunFinding, type RunFindingParts, StrictStop } from './findings.ts';

/** What the checks need to know of a running dispatch. */
export interface StrictDispatch {
  readonly kernelName: string;
  readonly loaded: LoadedCode;
  /** Address of the kernel's first instruction. */
  readonly entry: number;
  readonly memory: DeviceMemory;
  readonly lines: DebugLines | undefined;
  readonly grid: readonly [number, number, number];
}

/** What a check adds to the place. */
export type FindingDetails = Pick<FindingParts, 'message' | 'edits' | 'advice' | 'registers' | 'related'> &
  Partial<Pick<RunFinding, 'lane' | 'space' | 'address' | 'allocation'>>;

export class Reporter {
  readonly log: FindingLog;
  readonly dispatch: StrictDispatch;

  constructor(log: FindingLog, dispatch: StrictDispatch) {
    this.log = log;
    this.dispatch = dispatch;
  }

  /** Text of the instruction at an address of the code object. */
  text(pc: number): string {
    const { loaded } = this.dispatch;
    return loaded.textAt(loaded.region.base + pc);
  }

  /** Reports a finding at an instruction, `details` being asked for only when it is new. */
  report(rule: RunRuleId, w: Wave | undefined, pc: number | undefined, details: () => FindingDetails): void {
    if (this.log.countKnown(rule, pc)) return;
    this.log.add(this.partsOf(rule, w, pc, details()));
  }

  /** Whether a finding at an instruction is kept: another one is only counted. */
  isKnown(rule: RunRuleId, pc: number): boolean {
    return this.log.isKnown(rule, pc);
  }

  /** Counts more of a finding that is kept. */
  countMore(rule: RunRuleId, pc: number, times: number): void {
    this.log.countMore(rule, pc, times);
  }

  /** Reports a finding after which the run cannot go on. */
  fatal(rule: RunRuleId, w: Wave | undefined, pc: number | undefined, details: () => FindingDetails): never {
    throw new StrictStop(this.log.add(this.partsOf(rule, w, pc, details())));
  }

  private partsOf(
    rule: RunRuleId,
    w: Wave | undefined,
    pc: number | undefined,
    details: FindingDetails,
  ): RunFindingParts {
    return {
      rule,
      kernel: this.dispatch.kernelName,
      place: this.placeAt(pc),
      workgroup: w?.workgroup.id,
      wavefront: w?.index,
      ...details,
    };
  }

  /** An instruction of the code object, with its line. */
  placeAt(pc: number | undefined): Place {
    if (pc === undefined) return {};
    const { lines } = this.dispatch;
    const inlinedAt = lines?.callsAt(pc) ?? [];
    const place = { pc, instruction: this.text(pc), source: lines?.at(pc) };
    return inlinedAt.length === 0 ? place : { ...place, inlinedAt };
  }

  /** Another instruction of a finding. */
  other(
    role: string,
    pc: number,
    wavefront?: number,
    workgroup?: readonly [number, number, number],
  ): RelatedPlace | undefined {
    return pc < 0 ? undefined : { role, place: this.placeAt(pc), workgroup, wavefront };
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
