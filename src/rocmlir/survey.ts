// What becomes of many modules: each function of each file is compiled by itself, and the reasons of those that keep rocMLIR's own
// kernel are counted. Files of rocMLIR's tests hold several functions, and several modules with lines `// -----` between them.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { readWhole } from '../iree/files.ts';
import { symbolName } from '../mlir/attribute.ts';
import { decodeModule } from '../mlir/lex.ts';
import { type Document, type Operation, parseMlir, symbolToken, tokenText, walk } from '../mlir/parse.ts';
import type { VerdictKind } from '../verdict/index.ts';
import { isMarked, onlyFunction } from './lower/kernel-function.ts';
import { functionsOf } from './lower/lower.ts';
import { compileKernel, type RunOptions, runProgram } from './run.ts';

/** `kernel`: one launch; `sequence`: several; `fallback`: rocMLIR's own kernel is kept. */
export type SurveyOutcome = 'kernel' | 'sequence' | 'fallback';

/** One function of a file. */
export interface SurveyItem {
  readonly file: string;
  readonly function: string;
  readonly outcome: SurveyOutcome;
  readonly launches: number;
  /** Why it falls back, or why what was compiled did not run. */
  readonly error: { readonly code: string; readonly message: string } | null;
  /** The comparison with what the operations mean; null when nothing was compared. */
  readonly verdict: VerdictKind | null;
  readonly seconds: number;
}

export interface Survey {
  readonly items: readonly SurveyItem[];
  /** Functions by reason of their fallback, most first. */
  readonly reasons: readonly { readonly code: string; readonly functions: number }[];
}

export interface SurveyOptions extends Omit<RunOptions, 'merged' | 'file'> {
  /** Run what compiles, and compare. */
  readonly run: boolean;
  /** Told after each function. */
  readonly progress?: ((item: SurveyItem) => void) | undefined;
}

/** The `.mlir` files below a folder in the order of their names, or the one file. */
export function modulesIn(path: string): string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.mlir'))
    .sort()
    .map((name) => join(path, name));
}

/** The modules of a file, each at its lines. */
export function splitModules(text: string): string[] {
  const parts: string[] = [];
  let lines: string[] = [];
  for (const [n, line] of text.split('\n').entries()) {
    if (!/^\s*\/\/ -----\s*$/.test(line)) lines.push(line);
    else {
      parts.push(lines.join('\n'));
      lines = Array.from({ length: n + 1 }, () => '');
    }
  }
  parts.push(lines.join('\n'));
  return parts.filter((part) => part.split('\n').some((line) => !/^\s*(?:\/\/.*)?$/.test(line)));
}

/** Functions that become kernels: those marked, else those that launch or call nothing. */
function kernelsOf(document: Document): Operation[] {
  const functions = functionsOf(document);
  const marked = functions.filter((operation) => isMarked(document, operation));
  if (marked.length > 0) return marked;
  const calls = new Set(['mhal.launch', 'async.launch', 'call', 'func.call', 'gpu.launch_func']);
  return functions.filter((operation) => ![...walk(operation.regions[0].operations)].some((o) => calls.has(o.name)));
}

function nameOf(document: Document, operation: Operation): string {
  const token = symbolToken(document, operation);
  return token === undefined ? '' : symbolName(tokenText(document, token));
}

/** Compiles (and runs) every kernel of the files. Only what is no reason to fall back is thrown. */
export async function survey(files: readonly string[], options: SurveyOptions): Promise<Survey> {
  const items: SurveyItem[] = [];
  const add = (item: SurveyItem): void => {
    items.push(item);
    options.progress?.(item);
  };
  for (const file of files) {
    for (const text of splitModules(decodeModule(readWhole(file, 'the module'), file))) {
      let document: Document;
      try {
        document = parseMlir(text, file);
      } catch (error) {
        if (!(error instanceof WavesmithError)) throw error;
        add({ ...nothing(file, ''), error: { code: error.code, message: error.message } });
        continue;
      }
      for (const operation of kernelsOf(document)) {
        add(await surveyOne(file, nameOf(document, operation), onlyFunction(document, operation).text, options));
      }
    }
  }
  const counts = new Map<string, number>();
  for (const { outcome, error } of items) {
    if (outcome === 'fallback' && error !== null) counts.set(error.code, (counts.get(error.code) ?? 0) + 1);
  }
  const reasons = [...counts].map(([code, functions]) => ({ code, functions }));
  return { items, reasons: reasons.sort((a, b) => b.functions - a.functions || (a.code < b.code ? -1 : 1)) };
}

const nothing = (file: string, name: string): Omit<SurveyItem, 'error'> => ({
  file,
  function: name,
  outcome: 'fallback',
  launches: 0,
  verdict: null,
  seconds: 0,
});

async function surveyOne(file: string, name: string, text: string, options: SurveyOptions): Promise<SurveyItem> {
  const start = performance.now();
  let item: SurveyItem = { ...nothing(file, name), error: null };
  try {
    const program = await compileKernel(text, options, file);
    const launches = program.sequence.steps.length;
    item = { ...item, outcome: launches === 1 ? 'kernel' : 'sequence', launches };
    if (options.run) {
      const report = await runProgram(text, program, { ...options, file });
      item = { ...item, verdict: report.verdict?.verdict ?? null };
    }
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    item = { ...item, error: { code: error.code, message: error.message } };
  }
  return { ...item, seconds: (performance.now() - start) / 1000 };
}
