// Assembling a large edited text quickly: functions whose text was not touched are left out of the assembly, and their bytes
// are taken from the baseline's code object. So untouched kernels keep exactly the bytes they had.
import { basename } from 'node:path';
import type { Source, TextFile } from './engine.ts';
import { type CodeObjectFacts, type KernelFacts, readFacts } from './facts.ts';

/** Sources without the bodies of untouched kernels; every other line keeps its number. */
export interface ReducedSources {
  /** The edited source. */
  readonly edited: Source;
  /** The pristine source without the same kernels. */
  readonly pristine: Source;
  /** The kernels whose bodies were replaced by as many bytes of space. */
  readonly leftOut: readonly KernelFacts[];
}

/** First and last line (exclusive) of a function's body: from behind its label to its end label or `.size`. */
interface Body {
  readonly from: number;
  readonly to: number;
}

/** The lines of one file before and after, with the bodies that were found in both. */
interface FilePair {
  readonly lines: string[];
  readonly old: string[];
  readonly bodies: ReadonlyMap<string, Body>;
  readonly oldBodies: ReadonlyMap<string, Body>;
}

/**
 * Leaves out every kernel whose body reads the same in both sources, which have the same files. A body must consist of
 * instructions, local labels and alignment alone, and must not refer to anything outside itself, for its bytes do not depend on
 * where it lies.
 */
export function leaveOutUntouched(edited: Source, pristine: Source, facts: CodeObjectFacts): ReducedSources {
  const after = filesOf(edited);
  const before = filesOf(pristine);
  const own = new Set(after.map(({ path }) => basename(path)));
  const withoutOwn = (text: string): string =>
    text.replace(INCLUDE, (line, name: string) => (own.has(name) ? '' : line));
  if (after.some(({ text }) => MEANING_CHANGES.test(withoutOwn(text)))) return { edited, pristine, leftOut: [] };
  const pairs = after.map(({ text }, i): FilePair => {
    const lines = text.split('\n');
    const isSame = before[i].text === text;
    const old = isSame ? [...lines] : before[i].text.split('\n');
    const bodies = findBodies(lines, facts);
    return { lines, old, bodies, oldBodies: isSame ? bodies : findBodies(old, facts) };
  });
  const leftOut: KernelFacts[] = [];
  for (const { lines, old, bodies, oldBodies } of pairs) {
    for (const [name, body] of bodies) {
      const then = oldBodies.get(name);
      const kernel = facts.kernels.get(name);
      if (then === undefined || kernel === undefined || !sameLines(lines, body, old, then)) continue;
      if (!isSelfContained(lines, body)) continue;
      leaveOut(lines, body, kernel);
      leaveOut(old, then, kernel);
      leftOut.push(kernel);
    }
  }
  const reduced = (source: Source, side: 'lines' | 'old'): Source => {
    const [main, ...included] = filesOf(source).map(({ path }, i) => ({ path, text: pairs[i][side].join('\n') }));
    return { main, included };
  };
  return { edited: reduced(edited, 'lines'), pristine: reduced(pristine, 'old'), leftOut };
}

const filesOf = ({ main, included }: Source): TextFile[] => [main, ...included];

function leaveOut(lines: string[], { from, to }: Body, kernel: KernelFacts): void {
  lines.fill('', from, to);
  if (to > from) lines[from] = `\t.space ${kernel.code.length}`;
}

const INCLUDE = /^\t\.include "([^"\n]*)"$/gm;
/** Directives that can give the same line another meaning, or leave it out. */
const MEANING_CHANGES = /^[ \t]*\.(?:macro|altmacro|if|else|rept|irp|include|incbin|purgem)/m;

function findBodies(lines: readonly string[], facts: CodeObjectFacts): Map<string, Body> {
  const bodies = new Map<string, Body>();
  let open: { name: string; from: number } | undefined;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i];
    if (open !== undefined) {
      if (!line.startsWith('.Lfunc_end') && !line.startsWith('\t.size\t')) continue;
      // A name that is defined twice is ambiguous; the assembler will say so.
      if (bodies.has(open.name)) return new Map();
      bodies.set(open.name, { from: open.from, to: i });
      open = undefined;
      continue;
    }
    const first = line.charCodeAt(0);
    if (line.length === 0 || first === TAB || first === SPACE || first === DOT || first === SEMICOLON) continue;
    const name = /^(?:"([^"]+)"|([\w.$]+)):/
      .exec(line)
      ?.slice(1)
      .find((group) => group !== undefined);
    if (name !== undefined && facts.kernels.has(name)) open = { name, from: i + 1 };
  }
  return bodies;
}

const TAB = 9;
const SPACE = 32;
const DOT = 46;
const SEMICOLON = 59;

function sameLines(a: readonly string[], bodyA: Body, b: readonly string[], bodyB: Body): boolean {
  const count = bodyA.to - bodyA.from;
  if (count !== bodyB.to - bodyB.from) return false;
  for (let i = 0; i < count; i++) if (a[bodyA.from + i] !== b[bodyB.from + i]) return false;
  return true;
}

function isSelfContained(lines: readonly string[], body: Body): boolean {
  for (let i = body.from; i < body.to; i++) {
    const line = lines[i];
    if (line.includes('@') || line.includes('s_getpc')) return false;
    const first = line.charCodeAt(0);
    if (
      first === DOT
        ? !line.startsWith('.L')
        : first === TAB && line.charCodeAt(1) === DOT && !line.startsWith('\t.p2align')
    ) {
      return false;
    }
  }
  return true;
}

/**
 * Puts the left-out bytes into the linked code object, in place, and reads it. Undefined when a kernel did not get the room it
 * had: then the whole text has to be assembled.
 */
export function putBack(codeObject: Uint8Array, leftOut: readonly KernelFacts[]): CodeObjectFacts | undefined {
  const facts = readFacts(codeObject);
  for (const before of leftOut) {
    const after = facts.kernels.get(before.name);
    if (after === undefined || after.code.length !== before.code.length) return undefined;
    after.code.set(before.code);
  }
  return facts;
}
