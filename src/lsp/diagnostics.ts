// Diagnostics of a source: what the assembler says, and when it assembles, what the checker finds, placed in the text.
// In stages, so that a server can stop between them when the text has changed. Source: LSP 3.18, "Diagnostic".
import type { DiagnosticRelatedInformation, Diagnostic as LspDiagnostic, Range, TextEdit } from 'vscode-languageserver';
import { DiagnosticSeverity } from 'vscode-languageserver';
import { type AssembleLimits, assemble, type Diagnostic } from '../asm/index.ts';
import { WavesmithError } from '../base/index.ts';
import { checkCodeObject } from '../check/index.ts';
import { link, readCodeObject } from '../codeobject/index.ts';
import {
  type Allowance,
  allowanceFor,
  allowanceProblem,
  editsTitle,
  type Finding,
  parseAllowances,
  ruleInfo,
} from '../finding/index.ts';
import { liftCodeObject } from '../program/index.ts';
import { keepCode, SourceCode } from './code.ts';
import type { SourceDocument } from './document.ts';
import { Places, statementRange, wordEnd } from './places.ts';
import { sourceEdits } from './source-edits.ts';

/** What the analysis needs to know besides the text. */
export interface AnalysisOptions {
  /** Target id for sources without `.amdgcn_target`. */
  readonly target?: string | undefined;
  readonly defines?: Readonly<Record<string, bigint>> | undefined;
  /** Content of an included file. */
  readonly readFile?: ((name: string) => Uint8Array | undefined) | undefined;
  /** Address of a rule's page. */
  readonly rulePage?: ((rule: string) => string | undefined) | undefined;
  /** Run the checker too (default). */
  readonly check?: boolean | undefined;
  /** Also what could be better: waits that are too strong, dead code. */
  readonly notes?: boolean | undefined;
  readonly limits?: Partial<AssembleLimits> | undefined;
}

/** What a diagnostic carries for its quick fix: the changes of the version that it is about. */
export interface DiagnosticData {
  readonly version: number;
  readonly title: string;
  readonly edits: readonly TextEdit[];
  readonly isPreferred: boolean;
}

/** While typing, a runaway macro or fill must not take the machine. */
const LIMITS: Partial<AssembleLimits> = {
  maxOutputBytes: 1 << 26,
  maxExpandedCharacters: 1 << 24,
  maxStatements: 1_000_000,
  maxDiagnostics: 400,
};

const SOURCE = 'wavesmith';
const NAME = 'source';
const NO_TARGET = /^the target is not known/;

/** Everything that is wrong with a source; yields between its stages and returns the diagnostics. */
export function* analyse(document: SourceDocument, options: AnalysisOptions = {}): Generator<void, LspDiagnostic[]> {
  const target = document.targetDirective === undefined ? options.target : undefined;
  // Line markers would give the places of another file.
  const text = document.text.replace(/^#(?=[ \t]*[0-9]+[ \t]+")/gm, ';');
  let found: LspDiagnostic[] = [];
  try {
    const result = assemble(text, {
      target,
      defines: options.defines,
      file: NAME,
      readFile: options.readFile,
      limits: { ...LIMITS, ...options.limits },
      trackLines: options.check !== false,
    });
    found = assemblerDiagnostics(document, result.diagnostics);
    if (result.object === undefined || options.check === false) return found;
    yield;
    const codeObject = readCodeObject(link([result.object]), [NAME]);
    if (codeObject.kernels.length === 0) return found;
    const program = liftCodeObject(codeObject);
    const places = new Places(document, codeObject, result.lines, NAME);
    keepCode(new SourceCode(document, program, places));
    yield;
    const findings = checkCodeObject(codeObject, { program, notes: options.notes });
    yield;
    const allowances = parseAllowances(document.text);
    for (const allowance of allowances) found.push(...allowanceDiagnostics(document, allowance));
    for (const finding of findings) {
      const made = findingDiagnostic(document, places, finding, options.rulePage);
      if (allowanceFor(allowances, finding, made.range.start.line + 1) === undefined) found.push(made);
    }
    return found;
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    const message = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
    const range = document.range(0, Math.max(0, document.text.search(/[\r\n]|$/)));
    found.push({ range, message, severity: DiagnosticSeverity.Warning, source: SOURCE, code: error.code });
    return found;
  }
}

/** All stages at once. */
export function analyseNow(document: SourceDocument, options: AnalysisOptions = {}): LspDiagnostic[] {
  const stages = analyse(document, options);
  for (;;) {
    const { done, value } = stages.next();
    if (done === true) return value;
  }
}

// ── the assembler ─────────────────────────────────────────────────────────────────────────────────────────────────────

const SEVERITIES = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  note: DiagnosticSeverity.Information,
};

function assemblerDiagnostics(document: SourceDocument, diagnostics: readonly Diagnostic[]): LspDiagnostic[] {
  const found: LspDiagnostic[] = [];
  let saidTarget = false;
  for (const diagnostic of diagnostics) {
    const isTarget = NO_TARGET.test(diagnostic.message);
    if (isTarget && saidTarget) continue;
    saidTarget ||= isTarget;
    const { range, prefix } = placeOf(document, diagnostic);
    const message = isTarget
      ? "The target is not known: start the source with '.amdgcn_target', or set 'wavesmith.target'."
      : prefix + diagnostic.message;
    found.push({
      range,
      message,
      severity: SEVERITIES[diagnostic.severity],
      source: SOURCE,
      code: isTarget ? 'asm/no-target' : 'asm',
    });
  }
  return found;
}

/** Where a message of the assembler is in this text; what happens in macros and includes is at their call. */
function placeOf(document: SourceDocument, diagnostic: Diagnostic): { range: Range; prefix: string } {
  if (diagnostic.file === NAME) {
    const start = document.assemblerOffset(diagnostic.line, diagnostic.column);
    return { range: document.range(start, wordEnd(document, start, diagnostic.length)), prefix: '' };
  }
  const call = diagnostic.notes.findLast((note) => note.file === NAME);
  const shown = diagnostic.sourceLine.trim().slice(0, 120);
  if (call !== undefined) {
    const start = document.assemblerOffset(call.line, call.column);
    return { range: statementRange(document, start), prefix: `in '${shown}': ` };
  }
  for (const line of diagnostic.includeStack) {
    const match = /^Included from (.*):(\d+):$/.exec(line);
    if (match?.[1] !== NAME) continue;
    const prefix = `${diagnostic.file}:${diagnostic.line}: `;
    return { range: statementRange(document, document.assemblerLine(Number(match[2]))), prefix };
  }
  return { range: document.range(0, 0), prefix: `${diagnostic.file}:${diagnostic.line}: ` };
}

// ── the checker ───────────────────────────────────────────────────────────────────────────────────────────────────────

const FINDING_SEVERITIES = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  note: DiagnosticSeverity.Hint,
};

function findingDiagnostic(
  document: SourceDocument,
  places: Places,
  finding: Finding,
  rulePage: ((rule: string) => string | undefined) | undefined,
): LspDiagnostic {
  const { place, rule, kernel, fix } = finding;
  const range = places.of(place, kernel) ?? document.range(0, 0);
  const related: DiagnosticRelatedInformation[] = [];
  for (const { role, place: other } of finding.related) {
    const at = other.pc === undefined ? undefined : places.instruction(other.pc);
    const message = other.instruction === undefined ? role : `'${other.instruction}' ${role}`;
    if (at !== undefined) related.push({ location: { uri: document.uri, range: at }, message });
  }
  if (related.length > 0) {
    related.push({ location: { uri: document.uri, range }, message: place.instruction ?? rule });
  }
  const parts = [finding.message];
  if (fix !== undefined) parts.push(`Fix: ${fix}`);
  parts.push(`See ${finding.reference}.`);
  const page = rulePage?.(rule);
  const data = quickFixOf(document, places, finding);
  return {
    range,
    message: parts.join('\n'),
    severity: FINDING_SEVERITIES[finding.severity],
    source: SOURCE,
    code: rule,
    ...(page === undefined ? {} : { codeDescription: { href: page } }),
    ...(related.length === 0 ? {} : { relatedInformation: related }),
    ...(data === undefined ? {} : { data }),
  };
}

function allowanceDiagnostics(document: SourceDocument, allowance: Allowance): LspDiagnostic[] {
  const message = allowanceProblem(allowance);
  if (message === undefined) return [];
  const start = document.assemblerLine(allowance.line);
  const range = document.range(start, start + document.text.slice(start).search(/[\r\n]|$/));
  return [{ range, message, severity: DiagnosticSeverity.Warning, source: SOURCE, code: 'allow' }];
}

function quickFixOf(document: SourceDocument, places: Places, { edits, rule }: Finding): DiagnosticData | undefined {
  if (edits.length === 0) return undefined;
  const made = sourceEdits(places, edits).edits;
  const isPreferred = ruleInfo(rule).isEditUnsafe !== true;
  return made && { version: document.version, title: editsTitle(edits), edits: made, isPreferred };
}
