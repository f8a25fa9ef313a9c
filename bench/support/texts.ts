// Machine code to time with, as long as it gets without repeating itself: whole code objects of the reference data, the
// texts of different objects one behind the other, and random valid instructions, no two alike, for a machine without them.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assembleAndLink } from '../../src/asm/index.ts';
import { randomNumbers, WavesmithError } from '../../src/base/index.ts';
import { codeObjectsOf, openContainer } from '../../src/codeobject/index.ts';
import { decoderFor } from '../../src/isa/codec/decode.ts';
import { encodeInto } from '../../src/isa/codec/encode.ts';
import { InstructionParser } from '../../src/isa/parse/parse.ts';
import { printerFor } from '../../src/isa/print/print.ts';
import { tableFor } from '../../src/isa/table/table.ts';
import { isTargetName } from '../../src/isa/table/targets.ts';
import { Lexer } from '../../src/isa/text/lexer.ts';
import type { TargetName } from '../../src/isa/types.ts';
import { root } from './processes.ts';

/** Code of one target, and what it is. */
export interface Text {
  readonly name: string;
  readonly target: TargetName;
  readonly bytes: Uint8Array;
}

/** A code object of the reference data as it is. */
export interface WholeObject {
  readonly name: string;
  readonly target: TargetName;
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Every code object of the reference data that is a file of its own, the largest first; none when the data is absent. */
export function corpusObjects(): WholeObject[] {
  const folder = join(root, '..', 'shared', 'corpus');
  if (!existsSync(folder)) return [];
  const found: WholeObject[] = [];
  const seen = new Set<string>();
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!/\.(?:co|hsaco)$/.test(name)) continue;
    const path = join(folder, name);
    for (const object of objectsIn(path)) {
      const target = object.target.processor;
      const text = object.elf.section('.text')?.bytes;
      if (!isTargetName(target) || text === undefined) continue;
      const hash = createHash('sha1').update(text).digest('hex');
      if (seen.has(hash)) continue;
      seen.add(hash);
      found.push({ name: name.split('/').pop() as string, target, path, bytes: text });
    }
  }
  return found.sort((a, b) => b.bytes.length - a.bytes.length);
}

function objectsIn(path: string) {
  try {
    return codeObjectsOf(openContainer(readFileSync(path), path));
  } catch (error) {
    if (error instanceof WavesmithError) return [];
    throw error;
  }
}

/** The texts of all different objects of a target, one behind the other; undefined when there are none. */
export function concatenated(objects: readonly WholeObject[], target: TargetName): Text | undefined {
  const texts = objects.filter((o) => o.target === target).map((o) => o.bytes);
  if (texts.length === 0) return undefined;
  return { name: `texts of ${texts.length} different objects`, target, bytes: Buffer.concat(texts) };
}

/** A seeded generator of unsigned 32-bit numbers. */
export function randomWords(seed: number): () => number {
  const random = randomNumbers(seed);
  return () => Math.floor(random() * 2 ** 32);
}

/** Instructions that transfer control would end functions and name labels; the texts are of straight code. */
const LEFT_OUT = ['isBranch', 'isCall', 'isTerminator', 'isBarrier'];

/**
 * `count` random instructions of every row of a target, no two of the same bytes. Each prints as text that both assemblers
 * accept and that gives its bytes back.
 */
export function randomText(target: TargetName, count: number, seed: number): Text {
  const next = randomWords(seed);
  const rows = tableFor(target).rows.filter(
    (row) => !row.asmOnly && !row.codeGenOnly && !LEFT_OUT.some((flag) => row.flags.has(flag)),
  );
  const decoder = decoderFor(target);
  const printer = printerFor(target);
  const seen = new Set<string>();
  const out = new Uint8Array(count * 20);
  const words = new Uint32Array(5);
  const bytes = new Uint8Array(words.buffer);
  const encoded = new Uint8Array(32);
  let size = 0;
  while (seen.size < count) {
    const row = rows[next() % rows.length] as (typeof rows)[number];
    words.fill(0);
    words.set(row.fixedBits);
    for (const { at, width } of row.fields) {
      const value = next() & (width === 32 ? 0xffffffff : (1 << width) - 1);
      words[at >> 5] = (words[at >> 5] as number) | (value << (at & 31));
    }
    words[row.size / 4] = next();
    const failures = decoder.operandFailures;
    const instruction = decoder.decode(bytes, 0);
    if (instruction === undefined || decoder.operandFailures !== failures) continue;
    const text = printer.print(instruction);
    // LLVM 22 prints sext(4) of v_ldexp_f16_sdwa and does not read it.
    if (/\/\*|sext\(-?\d/.test(text) || seen.has(text)) continue;
    const back = parsed(text, target);
    if (back === undefined || encodeInto(back, encoded, 0) !== instruction.size) continue;
    const own = bytes.subarray(0, instruction.size);
    if (Buffer.compare(own, encoded.subarray(0, instruction.size)) !== 0) continue;
    seen.add(text);
    out.set(own, size);
    size += instruction.size;
  }
  return { name: `${count} different random instructions`, target, bytes: out.subarray(0, size) };
}

function parsed(text: string, target: TargetName) {
  const lexer = new Lexer(text);
  lexer.nextStatement();
  const context = { target, xnack: false, constant: () => undefined, here: () => '.', numericLabel: () => undefined };
  const result = new InstructionParser(lexer, context).parse();
  return result === undefined || result.fixups.length > 0 ? undefined : result.instruction;
}

/** A linked code object with the bytes as its code. */
export function objectWith({ bytes, target }: Text): Uint8Array {
  const source = [
    `\t.amdgcn_target "amdgcn-amd-amdhsa--${target}"`,
    '\t.text\n\t.globl\tcode\n\t.p2align\t8\n\t.type\tcode,@function',
    'code:\n\t.incbin "code.bin"\n.Lend:\n\t.size\tcode, .Lend-code\n',
  ].join('\n');
  return assembleAndLink(source, { readFile: () => bytes });
}

/** The inputs of a bench: the largest object as it is, all texts of a target in one object, random instructions. */
export function benchObjects(folder: string): { name: string; target: TargetName; path: string }[] {
  const objects = corpusObjects();
  const made: { name: string; target: TargetName; path: string }[] = objects
    .slice(0, 1)
    .map(({ name, target, path }) => ({
      name: `${name.slice(0, 22)}…, largest object`,
      target,
      path,
    }));
  const texts = (['gfx90a', 'gfx942'] as const).map((target) => concatenated(objects, target));
  for (const text of [...texts, randomText('gfx950', RANDOM_INSTRUCTIONS, 1)]) {
    if (text === undefined) continue;
    const path = join(folder, `${made.length}.co`);
    writeFileSync(path, objectWith(text));
    made.push({ name: text.name, target: text.target, path });
  }
  return made.map((m) => ({ ...m, name: `${m.name} (${m.target}, ${(statSync(m.path).size / 1e6).toFixed(1)} MB)` }));
}

const RANDOM_INSTRUCTIONS = 200_000;
