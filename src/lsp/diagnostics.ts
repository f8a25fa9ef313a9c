// Diagnostics of a source: what the assembler says, and when it assembles, what the checker finds, placed in the text.
// In stages, so that a server can stop between them when the text has changed. Source: LSP 3.18, "Diagnostic".
import type { DiagnosticRelatedInformation, Diagnostic as LspDiagnostic, Range } from 'vscode-languageserver';
import { DiagnosticSeverity } from 'vscode-languageserver';
import { type AssembleLimits, assemble, type Diagnostic, type InstructionLines } from '../asm/index.ts';
import { WavesmithError } from '../base/index.ts';
import { checkCodeObject, type Finding } from '../check/index.ts';
import { type CodeObject, link, readCodeObject } from '../codeobject/index.ts';
import { liftCodeObject } from '../program/index.ts';
import type { SourceDocument } from './document.ts';
import { metadataPlace } from './metadata-places.ts';
import type { Statement } from './scan.ts';

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

/** What a diagnostic carries for its quick fixes. */
export interface DiagnosticData {
  readonly fix?: string;
  readonly kernel?: string;
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
    yield;
    const findings = checkCodeObject(codeObject, { program, notes: options.notes });
    yield;
    const places = new Places(document, codeObject, result.lines);
    for (const finding of findings) found.push(findingDiagnostic(document, places, finding, options.rulePage));
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
    return { range: document.range(start, endOf(document, start, diagnostic.length)), prefix: '' };
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

/** The end of what a message marks: its length when it has one, else the word there; never beyond the line. */
function endOf(document: SourceDocument, start: number, length: number): number {
  const { text } = document;
  let limit = text.slice(start, start + 4096).search(/[\r\n]/);
  limit = limit < 0 ? Math.min(text.length, start + 4096) : start + limit;
  const word = /^[\w.$@]+/.exec(text.slice(start, limit))?.[0].length ?? 1;
  return Math.min(limit, start + (length > 1 ? length : word));
}

/** The statement at an offset, without its labels; the next one of the line when the offset is before it. */
function statementOf(document: SourceDocument, offset: number): Statement | undefined {
  const { scan } = document;
  const at = scan.statementBefore(offset);
  const candidates = [scan.statements[at], scan.statements[at + 1]];
  return candidates.find((s) => s !== undefined && s.end >= offset && !/\n/.test(document.text.slice(offset, s.start)));
}

function statementRange(document: SourceDocument, offset: number): Range {
  const statement = statementOf(document, offset);
  if (statement === undefined) return document.range(offset, endOf(document, offset, 1));
  const start = statement.head < 0 ? statement.start : document.scan.start(statement.head);
  return document.range(start, statement.end);
}

// ── the checker ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Where findings are in the text. */
class Places {
  private readonly document: SourceDocument;
  private readonly codeObject: CodeObject;
  private readonly lines: InstructionLines | undefined;

  constructor(document: SourceDocument, codeObject: CodeObject, lines: InstructionLines | undefined) {
    this.document = document;
    this.codeObject = codeObject;
    this.lines = lines;
  }

  /** The instruction at an address: its statement here, or the `.include` that it comes from. */
  instruction(pc: number): Range | undefined {
    const section = this.codeObject.elf.sections.find((s) => pc >= s.address && pc < s.address + s.bytes.length);
    const line = section && this.lines?.get(section.name)?.get(pc - section.address);
    if (line === undefined) return undefined;
    const { document } = this;
    if (line.file === NAME) return statementRange(document, document.assemblerLine(line.line));
    const { scan } = document;
    const include = scan.statements.find(
      (s) => scan.headText(s) === '.include' && document.text.slice(s.start, s.end).includes(`"${line.file}"`),
    );
    return include && document.range(include.start, include.end);
  }

  /** The directive that a fix names in the block of a kernel, else the block's first line. */
  directive(kernel: string | undefined, fix: string | undefined): Range | undefined {
    const { document } = this;
    const { scan } = document;
    const named = fix === undefined ? undefined : /\.(?:amdhsa_\w+|amdgcn_target|\w+:)/.exec(fix)?.[0];
    const block = kernel === undefined ? undefined : kernelBlock(document, kernel);
    if (named?.endsWith(':') === true) {
      const found = kernel === undefined ? undefined : metadataPlace(document, kernel, named.slice(0, -1));
      if (found !== undefined) return document.range(found.start, found.end);
    } else if (named !== undefined) {
      const from = block?.open ?? 0;
      const found = scan.statements.find((s, i) => i >= from && scan.headText(s) === named);
      if (found !== undefined) return document.range(found.start, found.end);
    }
    const open = block && scan.statements[block.open];
    return open && document.range(open.start, open.end);
  }
}

/** The `.amdhsa_kernel` block of a kernel, as indexes of statements. */
export function kernelBlock(
  document: SourceDocument,
  kernel: string,
): { readonly open: number; readonly close: number } | undefined {
  const { scan } = document;
  return scan.blocks.find((block) => {
    if (block.kind !== 'kernel') return false;
    const open = scan.statements[block.open] as Statement;
    const name = open.count < 2 ? '' : scan.tokenText(open.head + 1);
    return name === kernel || name === `"${kernel}"`;
  });
}

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
  const { pc, other, instruction, rule, kernel, fix } = finding;
  const own = pc === undefined ? undefined : places.instruction(pc);
  const range = own ?? places.directive(kernel, fix) ?? document.range(0, 0);
  const related: DiagnosticRelatedInformation[] = [];
  const relate = (at: Range | undefined, text: string | undefined): void => {
    if (at !== undefined && text !== undefined)
      related.push({ location: { uri: document.uri, range: at }, message: text });
  };
  if (other !== undefined) relate(places.instruction(other.pc), other.instruction);
  if (other !== undefined) relate(own, instruction);
  const parts = [finding.message];
  if (fix !== undefined) parts.push(`Fix: ${fix}`);
  if (finding.reference !== undefined) parts.push(`See ${finding.reference}.`);
  const page = rulePage?.(rule);
  const data: DiagnosticData = { ...(fix === undefined ? {} : { fix }), ...(kernel === undefined ? {} : { kernel }) };
  return {
    range,
    message: parts.join('\n'),
    severity: FINDING_SEVERITIES[finding.severity],
    source: SOURCE,
    code: rule,
    ...(page === undefined ? {} : { codeDescription: { href: page } }),
    ...(related.length === 0 ? {} : { relatedInformation: related }),
    data,
  };
}
