// Whether the kernels of a source are still the functions that they were when it was opened: a lens on the first edited block of each
// kernel. It is made at once and proved when an editor asks to show it.
import type { CodeLens, Range } from 'vscode-languageserver';
import { kernelCode } from '../check/code.ts';
import { changedKernels, quickProof } from '../equivalence/quick.ts';
import type { BasicBlock, CodeInstruction, Program } from '../program/index.ts';
import { codeOf, type SourceCode } from './code.ts';
import type { SourceDocument } from './document.ts';

/** What a lens carries until it is shown. */
interface ProofData {
  readonly uri: string;
  readonly version: number;
  readonly kernel: string;
}

/** An editor waits, and so does everything else that it asks for. Measured: kernels of 1,000 instructions take half a second. */
const LIMITS = { megabytes: 60, milliseconds: 2_000 };

/** Lenses on what was edited since a baseline, without titles; none when one of the two does not assemble. */
export function proofLenses(baseline: SourceDocument, document: SourceDocument): CodeLens[] {
  const [before, after] = [codeOf(baseline), codeOf(document)];
  if (before === undefined || after === undefined) return [];
  const { uri, version } = document;
  return changedKernels(before.program.codeObject, after.program.codeObject).flatMap((kernel): CodeLens[] => {
    const range = editedBlock(before, after, kernel);
    const data: ProofData = { uri, version, kernel };
    return range === undefined ? [] : [{ range, data }];
  });
}

/** A lens with what a proof says; of another version than the document's only that. */
export function resolveProof(lens: CodeLens, baseline: SourceDocument, document: SourceDocument): CodeLens {
  const { kernel, version } = lens.data as ProofData;
  const [before, after] = [codeOf(baseline), codeOf(document)];
  const titled = (title: string): CodeLens => ({ ...lens, command: { title, command: '' } });
  if (before === undefined || after === undefined || version !== document.version) return titled('edited again');
  const { verdict, reason } = quickProof(before.program.codeObject, after.program.codeObject, kernel, LIMITS);
  return titled(
    verdict === 'proved' ? 'proved: the same function as when opened' : `not proved to be the same function: ${reason}`,
  );
}

/** The document that a lens is about; undefined when it is no lens of a proof. */
export function proofUri({ data }: CodeLens): string | undefined {
  return typeof data === 'object' && data !== null ? (data as Partial<ProofData>).uri : undefined;
}

/** The first line of the first block whose bytes differ from the baseline's; of a descriptor that differs, of the kernel. */
function editedBlock(before: SourceCode, after: SourceCode, name: string): Range | undefined {
  const { program, document } = after;
  const subject = program.functions.find(({ kernel }) => kernel?.name === name);
  const [x, y] = [codeBytes(before, name), codeBytes(after, name)];
  if (subject === undefined || x === undefined || y === undefined) return undefined;
  const at = y.findIndex((byte, i) => byte !== x[i]);
  const changed = subject.entry + Math.max(at, 0);
  const block = subject.blocks
    .map((index) => program.blocks[index] as BasicBlock)
    .findLast((b) => startOf(program, b) <= changed);
  const line = block && after.lineOf(program.instructions[block.first] as CodeInstruction);
  if (line === undefined) return undefined;
  const from = document.assemblerLine(line + 1);
  return document.range(from, from + document.text.slice(from).search(/[\r\n]|$/));
}

function codeBytes({ program: { codeObject } }: SourceCode, name: string): Uint8Array | undefined {
  const kernel = codeObject.kernels.find((k) => k.name === name);
  return kernel && kernelCode(codeObject, kernel);
}

const startOf = ({ instructions }: Program, { first }: BasicBlock): number =>
  (instructions[first] as CodeInstruction).pc;
