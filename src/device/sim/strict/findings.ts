// What strict mode reports: one finding per rule and instruction with a count, and which of them stop a run.
// The rules are documented, with an example and a fix each, in docs/virtual-gpu.md, "Strict".
import {
  checkFailOn,
  type FailOn,
  type Finding,
  type FindingParts,
  failsOn,
  finding,
  RUN_RULES,
  type RunRuleId,
  type SourcePlace,
} from '../../../finding/index.ts';

/** The live or freed allocation nearest to an address. */
export interface NearAllocation {
  readonly label: string;
  readonly base: number;
  readonly size: number;
  /** Bytes from it: negative before its start, positive past its end, 0 inside or at its edge. */
  readonly distance: number;
}

/** One finding of a strict run: who did it first, and to what memory. JSON-able. */
export interface RunFinding extends Finding {
  readonly rule: RunRuleId;
  /** Empty where no kernel does it. */
  readonly kernel: string;
  readonly workgroup: readonly [number, number, number] | undefined;
  readonly wavefront: number | undefined;
  readonly lane: number | undefined;
  readonly space: 'global' | 'lds' | 'scratch' | undefined;
  readonly address: number | undefined;
  readonly allocation: NearAllocation | undefined;
  /** How often it happened; everything else is about the first time. */
  readonly count: number;
}

/** Options of a strict dispatch. */
export interface StrictOptions {
  /** The first finding that matches ends the run; by default nothing but a fault does. An unknown name is `finding/unknown-rule`. */
  readonly failOn?: FailOn | undefined;
  /** Different findings kept (by rule and pc); further ones only count in `SimDispatchResult.findingsDropped`. Default 1000. */
  readonly maxFindings?: number | undefined;
  /** @deprecated The first name of `maxFindings`. */
  readonly maxDiagnostics?: number | undefined;
}

/** Ends a strict run; the finding is in the log already. */
export class StrictStop extends Error {
  readonly finding: RunFinding;
  constructor(finding: RunFinding) {
    super(finding.message);
    this.finding = finding;
  }
}

/** What a check says; the log adds severity and count. */
export type RunFindingParts = FindingParts &
  Pick<RunFinding, 'rule' | 'kernel'> &
  Partial<Pick<RunFinding, 'workgroup' | 'wavefront' | 'lane' | 'space' | 'address' | 'allocation'>>;

/** Collects findings: one record per rule and pc. */
export class FindingLog {
  /** Places among those kept, by rule and pc: a finding in a loop is looked up for each lane. */
  private readonly places = new Map<RunRuleId, Map<number | undefined, number>>();
  private readonly kept: RunFinding[] = [];
  private readonly failOn: FailOn;
  private readonly limit: number;
  /** Findings that were not kept because there are too many different ones. */
  dropped = 0;

  constructor(options: StrictOptions) {
    this.failOn = options.failOn ?? 'none';
    checkFailOn(this.failOn, Object.keys(RUN_RULES) as RunRuleId[]);
    this.limit = options.maxFindings ?? options.maxDiagnostics ?? 1000;
  }

  /** Counts a finding that has been reported before; false when it is new. */
  countKnown(rule: RunRuleId, pc: number | undefined): boolean {
    const known = this.known(rule, pc);
    if (known === undefined) return false;
    known.count++;
    return true;
  }

  /** Whether a finding is kept. */
  isKnown(rule: RunRuleId, pc: number): boolean {
    return this.known(rule, pc) !== undefined;
  }

  private known(rule: RunRuleId, pc: number | undefined): { count: number } | undefined {
    const at = this.places.get(rule)?.get(pc);
    return at === undefined ? undefined : this.kept[at];
  }

  /** A finding that is kept has happened so many times more. */
  countMore(rule: RunRuleId, pc: number, times: number): void {
    const known = this.known(rule, pc);
    if (known !== undefined) known.count += times;
  }

  /** Reports a new finding; throws `StrictStop` when it ends the run. */
  add(parts: RunFindingParts): RunFinding {
    const found = this.record(parts);
    if (failsOn(this.failOn, found)) throw new StrictStop(found);
    return found;
  }

  /** Keeps a finding. */
  record(parts: RunFindingParts): RunFinding {
    const { rule, kernel } = parts;
    const found: RunFinding = {
      ...finding({ ...parts, severity: RUN_RULES[rule].severity }),
      rule,
      kernel,
      workgroup: parts.workgroup,
      wavefront: parts.wavefront,
      lane: parts.lane,
      space: parts.space,
      address: parts.address,
      allocation: parts.allocation,
      count: 1,
    };
    this.keep(found);
    return found;
  }

  /** The latest of one place takes the place of the others. */
  private keep(found: RunFinding): void {
    let ofRule = this.places.get(found.rule);
    if (ofRule === undefined) {
      ofRule = new Map();
      this.places.set(found.rule, ofRule);
    }
    const at = ofRule.get(found.place.pc);
    if (at !== undefined) this.kept[at] = found;
    else if (this.kept.length >= this.limit) this.dropped++;
    else ofRule.set(found.place.pc, this.kept.push(found) - 1);
  }

  /** All findings in the order in which they first happened. */
  get findings(): readonly RunFinding[] {
    return [...this.kept];
  }
}

/** A finding as text: where, what, the other instruction, the fix. */
export function formatRunFinding(found: RunFinding, file: string): string {
  const { place, related } = found;
  const hex = (n: number): string => `0x${n.toString(16)}`;
  const line = ({ file: name, line: number }: SourcePlace): string => `${name}:${number}`;
  const where = place.source === undefined ? file : line(place.source);
  const at = place.pc === undefined ? '' : ` (pc ${hex(place.pc)})`;
  const lines = [`${where}${at}: ${found.severity}[${found.rule}]: ${found.message}`];
  for (const { place: other, workgroup, wavefront } of related) {
    const who = wavefront === undefined ? '' : ` (${whoText(workgroup, wavefront, undefined)})`;
    const from = other.source === undefined ? '' : ` at ${line(other.source)}`;
    if (other.pc !== undefined) lines.push(`    ${hex(other.pc)}: ${other.instruction}${who}${from}`);
  }
  if (place.pc !== undefined && place.instruction !== undefined)
    lines.push(`    ${hex(place.pc)}: ${place.instruction}`);
  for (const call of place.inlinedAt ?? []) lines.push(`  inlined at ${line(call)}`);
  const who = whoText(found.workgroup, found.wavefront, found.lane);
  const times = found.count === 1 ? '' : `, ${found.count} times in all`;
  if (found.kernel !== '') lines.push(`  in kernel '${found.kernel}'${who === '' ? '' : `, ${who}`}${times}`);
  if (found.allocation !== undefined) lines.push(`  near: ${allocationText(found.allocation)}`);
  if (found.fix !== undefined) lines.push(`  fix: ${found.fix}`);
  return `${lines.join('\n')}\n`;
}

function whoText(
  workgroup: readonly number[] | undefined,
  wavefront: number | undefined,
  lane: number | undefined,
): string {
  return [
    workgroup && `workgroup ${workgroup.join(',')}`,
    wavefront !== undefined && `wavefront ${wavefront}`,
    lane !== undefined && `lane ${lane}`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** `'x' (4000 bytes at 0x7f00…), 4 bytes past its end`. */
export function allocationText({ label, size, base, distance }: NearAllocation): string {
  const side =
    distance === 0 ? 'at it' : distance < 0 ? `${-distance} bytes before its start` : `${distance} bytes past its end`;
  return `'${label}' (${size} bytes at 0x${base.toString(16)}), ${side}`;
}
