// What strict mode reports: codes, severities, one record per (code, pc) with a count, and which of them stop a run.
// The codes are documented, with an example and a fix each, in docs/virtual-gpu.md, "Strict".
import { WavesmithError } from '../../../base/index.ts';

export type DiagnosticSeverity = 'error' | 'warning';

/** Every code and its severity. `error`: the kernel is wrong. `warning`: it is legal on the hardware and probably not meant. */
export const DIAGNOSTIC_CODES = {
  'memory/out-of-bounds': 'error',
  'memory/use-after-free': 'error',
  'memory/read-only': 'error',
  'memory/lds-out-of-bounds': 'error',
  'memory/scratch-out-of-bounds': 'error',
  'memory/misaligned': 'error',
  'memory/uninitialised': 'error',
  'memory/kernarg-overrun': 'error',
  'registers/uninitialised': 'error',
  'registers/beyond-allocation': 'error',
  'waits/read-before-return': 'error',
  'waits/write-before-return': 'error',
  'waits/lds-before-return': 'error',
  'waits/barrier-before-write': 'error',
  'races/lds': 'error',
  'races/lds-in-flight': 'warning',
  'races/global': 'error',
  'races/untracked': 'warning',
  'barriers/divergence': 'warning',
  'schedule/deadlock': 'error',
  'schedule/budget': 'error',
  'run/stopped': 'error',
} as const satisfies Readonly<Record<string, DiagnosticSeverity>>;

export type DiagnosticCode = keyof typeof DIAGNOSTIC_CODES;

/** Another instruction that a diagnostic is about: what wrote the register, the other side of a race. */
export interface OtherInstruction {
  /** Address in the code object. */
  readonly pc: number;
  readonly instruction: string;
  readonly workgroup?: readonly [number, number, number] | undefined;
  readonly wavefront?: number | undefined;
}

/** The live or freed allocation nearest to an address. */
export interface NearAllocation {
  readonly label: string;
  readonly base: number;
  readonly size: number;
  /** Bytes from it: negative before its start, positive past its end, 0 inside or at its edge. */
  readonly distance: number;
}

/** One finding of a strict run. JSON-able. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: DiagnosticSeverity;
  readonly kernel: string;
  /** Address of the instruction in the code object; undefined when the finding is not about one. */
  readonly pc: number | undefined;
  readonly instruction: string | undefined;
  /** Where it happened first. */
  readonly workgroup: readonly [number, number, number] | undefined;
  readonly wavefront: number | undefined;
  readonly lane: number | undefined;
  readonly space: 'global' | 'lds' | 'scratch' | undefined;
  readonly address: number | undefined;
  readonly registers: readonly string[];
  readonly other: OtherInstruction | undefined;
  readonly source: { readonly file: string; readonly line: number } | undefined;
  readonly allocation: NearAllocation | undefined;
  /** One sentence. */
  readonly message: string;
  readonly fix: string;
  /** How often it happened; everything else is about the first time. */
  readonly count: number;
}

/** Which findings end a run: all errors, all findings, none, or the codes (or their areas: `waits`) of a list. */
export type FailOn = 'error' | 'warning' | 'none' | readonly string[];

/** Options of a strict dispatch. */
export interface StrictOptions {
  /** The first finding that matches ends the run; by default nothing but a fault does. */
  readonly failOn?: FailOn | undefined;
  /** Different findings kept (by code and pc); further ones only count in `DispatchResult.diagnosticsDropped`. Default 1000. */
  readonly maxDiagnostics?: number | undefined;
}

/** Parses `error`, `warning`, `none`, or a comma-separated list of codes and areas. */
export function parseFailOn(text: string): FailOn {
  if (text === 'error' || text === 'warning' || text === 'none') return text;
  const codes = text.split(',').map((part) => part.trim());
  const known = Object.keys(DIAGNOSTIC_CODES);
  for (const code of codes) {
    if (known.includes(code) || (code !== '' && known.some((k) => k.startsWith(`${code}/`)))) continue;
    throw new WavesmithError('strict/unknown-code', `'${code}' is no diagnostic of strict mode.`, {
      hint: `Write error, warning, none, or some of: ${known.join(', ')}.`,
    });
  }
  return codes;
}

/** Whether a finding is one of those. */
export function failsOn(failOn: FailOn, { code, severity }: Pick<Diagnostic, 'code' | 'severity'>): boolean {
  if (failOn === 'none') return false;
  if (failOn === 'warning') return true;
  if (failOn === 'error') return severity === 'error';
  return failOn.some((one) => one === code || code.startsWith(`${one}/`));
}

/** Ends a strict run; the finding is in the log already. */
export class StrictStop extends Error {
  readonly diagnostic: Diagnostic;
  constructor(diagnostic: Diagnostic) {
    super(diagnostic.message);
    this.diagnostic = diagnostic;
  }
}

/** What a check says; the log adds severity and count. */
export type DiagnosticParts = Pick<Diagnostic, 'code' | 'kernel' | 'message' | 'fix'> & Partial<Diagnostic>;

/** Collects findings: one record per code and pc. */
export class DiagnosticLog {
  private readonly byKey = new Map<string, Diagnostic>();
  private readonly failOn: FailOn;
  private readonly limit: number;
  /** Findings that were not kept because there are too many different ones. */
  dropped = 0;

  constructor(options: StrictOptions) {
    this.failOn = options.failOn ?? 'none';
    this.limit = options.maxDiagnostics ?? 1000;
  }

  /** Counts a finding that has been reported before; false when it is new. */
  countKnown(code: DiagnosticCode, pc: number | undefined): boolean {
    const known = this.byKey.get(`${code} ${pc}`);
    if (known === undefined) return false;
    (known as { count: number }).count++;
    return true;
  }

  /** Reports a new finding; throws `StrictStop` when it ends the run. */
  add(parts: DiagnosticParts): Diagnostic {
    const diagnostic = this.record(parts);
    if (failsOn(this.failOn, diagnostic)) throw new StrictStop(diagnostic);
    return diagnostic;
  }

  /** Keeps a finding. */
  record(parts: DiagnosticParts): Diagnostic {
    const diagnostic: Diagnostic = {
      code: parts.code,
      severity: DIAGNOSTIC_CODES[parts.code],
      kernel: parts.kernel,
      pc: parts.pc,
      instruction: parts.instruction,
      workgroup: parts.workgroup,
      wavefront: parts.wavefront,
      lane: parts.lane,
      space: parts.space,
      address: parts.address,
      registers: parts.registers ?? [],
      other: parts.other,
      source: parts.source,
      allocation: parts.allocation,
      message: parts.message,
      fix: parts.fix,
      count: 1,
    };
    const key = `${diagnostic.code} ${diagnostic.pc}`;
    if (this.byKey.size < this.limit || this.byKey.has(key)) this.byKey.set(key, diagnostic);
    else this.dropped++;
    return diagnostic;
  }

  /** All findings in the order in which they first happened. */
  get diagnostics(): readonly Diagnostic[] {
    return [...this.byKey.values()];
  }
}

/** A finding as text: where, what, the other instruction, the fix. */
export function formatDiagnostic(d: Diagnostic, file: string): string {
  const hex = (n: number): string => `0x${n.toString(16)}`;
  const where = d.source !== undefined ? `${d.source.file}:${d.source.line}` : file;
  const at = d.pc === undefined ? '' : ` (pc ${hex(d.pc)})`;
  const lines = [`${where}${at}: ${d.severity}[${d.code}]: ${d.message}`];
  if (d.other !== undefined) {
    const who = d.other.wavefront === undefined ? '' : ` (${whoText(d.other.workgroup, d.other.wavefront, undefined)})`;
    lines.push(`    ${hex(d.other.pc)}: ${d.other.instruction}${who}`);
  }
  if (d.pc !== undefined && d.instruction !== undefined) lines.push(`    ${hex(d.pc)}: ${d.instruction}`);
  const who = whoText(d.workgroup, d.wavefront, d.lane);
  const times = d.count === 1 ? '' : `, ${d.count} times in all`;
  lines.push(`  in kernel '${d.kernel}'${who === '' ? '' : `, ${who}`}${times}`);
  if (d.allocation !== undefined) lines.push(`  near: ${allocationText(d.allocation)}`);
  lines.push(`  fix: ${d.fix}`);
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
