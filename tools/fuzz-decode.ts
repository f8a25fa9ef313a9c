// Compares the decoder and printer with `llvm-mc -disassemble` on random 32/64/96/128-bit words.
// Usage: node scripts/run-ts.mjs tools/fuzz-decode.ts TARGET [COUNT] [SEED]
// Each word is an atomic block for llvm-mc, so that both sides see exactly its bytes. Inputs whose operands cannot be decoded make
// LLVM crash; they are left out of the batches and a sample of them runs one by one.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { randomNumbers } from '../src/base/index.ts';
import { decoderFor } from '../src/isa/codec/decode.ts';
import { printerFor } from '../src/isa/print/print.ts';
import { MAX_INSTRUCTION_TEXT, type TextWriter, textWriterFor } from '../src/isa/print/text-writer.ts';
import { tableFor } from '../src/isa/table/table.ts';
import { isTargetName } from '../src/isa/table/targets.ts';
import type { InstructionRow, TargetName } from '../src/isa/types.ts';

const LLVM = process.env.WAVESMITH_LLVM ?? '/usr/lib/llvm-22/bin';
const BATCH = 20_000;
/** A run ends after this many mismatches: something is generally wrong. */
const TOO_MANY = 200;

/** Literals that have a text of their own. */
const LITERALS = [
  0, 1, 64, 65, 0xfffffff0, 0xffffffef, 0x3f800000, 0x3c00, 0xffff3c00, 0x3e22f983, 0x3ff00000, 0x3118, 0x3f80,
];

/** Makes words: uniform ones, and rows of the table with random fields, sometimes with a few bits flipped. */
class WordMaker {
  private readonly rows: readonly InstructionRow[];
  private readonly next: () => number;

  constructor(target: TargetName, seed: number) {
    this.rows = tableFor(target).rows.filter((row) => !row.codeGenOnly);
    const random = randomNumbers(seed);
    this.next = () => Math.floor(random() * 2 ** 32);
  }

  private below(limit: number): number {
    return this.next() % limit;
  }

  make(): Uint32Array {
    if (this.below(5) === 0) return Uint32Array.from({ length: 1 + this.below(4) }, this.next);
    const row = this.rows[this.below(this.rows.length)] as InstructionRow;
    const dwords = row.size / 4;
    const extra = this.below(3) === 0 ? this.below(3) : 1;
    const words = new Uint32Array(Math.min(4, dwords + extra));
    const loose = this.below(2) === 0;
    for (let i = 0; i < words.length; i++) {
      const mask = row.fixedMask[i] ?? 0;
      const random =
        i >= dwords && this.below(2) === 0 ? (LITERALS[this.below(LITERALS.length)] as number) : this.next();
      words[i] = ((row.fixedBits[i] ?? 0) & mask) | (loose || i >= dwords ? random & ~mask : 0);
    }
    for (const field of row.fields) this.fill(words, field.at, field.width);
    if (this.below(6) === 0) {
      for (let flips = 1 + this.below(3); flips > 0; flips--) {
        const bit = this.below(dwords * 32);
        words[bit >> 5] = (words[bit >> 5] as number) ^ (1 << (bit & 31));
      }
    }
    return words;
  }

  private fill(words: Uint32Array, at: number, width: number): void {
    const style = this.below(8);
    const all = width === 32 ? 0xffffffff : (1 << width) - 1;
    let value = this.next() & all;
    if (style === 0) value = 0;
    else if (style === 1) value = all;
    else if (style < 5 && width >= 8 && width <= 9) value = this.source() & all;
    const word = at >> 5;
    words[word] = ((words[word] as number) & ~(all << (at & 31))) | (value << (at & 31));
  }

  /** A source code: mostly VGPRs and even scalars, sometimes anything. */
  private source(): number {
    const kind = this.below(10);
    if (kind < 4) return 256 + (this.below(128) & ~1);
    if (kind < 6) return this.below(102) & ~3;
    if (kind === 6) return 102 + this.below(26);
    if (kind === 7) return 128 + this.below(81);
    if (kind === 8) return 230 + this.below(26);
    return this.below(512);
  }
}

interface Expected {
  readonly words: Uint32Array;
  readonly texts: readonly string[];
  /** Byte offset in the block where decoding stopped, or -1. */
  readonly invalidAt: number;
  readonly operandFailure: boolean;
}

/** What we say about one block: the instructions in it, up to the first undecodable position. */
function expect(target: TargetName, words: Uint32Array): Expected {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  const decoder = decoderFor(target);
  const printer = printerFor(target);
  const writer = textWriterFor(target);
  const before = decoder.operandFailures;
  const texts: string[] = [];
  let invalidAt = -1;
  for (let offset = 0; offset < bytes.length; ) {
    const instruction = decoder.decode(bytes, offset);
    if (instruction === undefined) {
      invalidAt = offset;
      break;
    }
    const text = printer.print(instruction);
    const written =
      writer.match(bytes, offset, bytes.length) === instruction.size ? writtenText(writer) : 'another size';
    texts.push(text === written ? text : `${text} (as bytes: ${written})`);
    offset += instruction.size;
  }
  return { words, texts, invalidAt, operandFailure: decoder.operandFailures !== before };
}

const textBytes = new Uint8Array(MAX_INSTRUCTION_TEXT);

/** What the text writer writes for the instruction it matched last. */
function writtenText(writer: TextWriter): string {
  return Buffer.from(textBytes.subarray(0, writer.writeText(textBytes, 0))).toString('latin1');
}

function blockText(words: Uint32Array): string {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  return `[${Array.from(bytes, (b) => `0x${b.toString(16)}`).join(' ')}]`;
}

interface Answer {
  readonly crashed: boolean;
  readonly texts: readonly string[];
  /** Line numbers (from 0) of blocks with an invalid position. */
  readonly invalid: ReadonlySet<number>;
}

/** Runs llvm-mc on blocks, one a line. */
function ask(llvmMc: string, target: TargetName, blocks: readonly Expected[]): Answer {
  const run = spawnSync(llvmMc, ['-triple=amdgcn', `-mcpu=${target}`, '-disassemble'], {
    input: `${blocks.map((b) => blockText(b.words)).join('\n')}\n`,
    maxBuffer: 1 << 30,
    encoding: 'latin1',
  });
  if (run.error !== undefined) throw run.error;
  const texts = run.stdout
    .split('\n')
    .filter((line) => line.startsWith('\t') && !line.startsWith('\t.'))
    .map((line) => line.trim());
  const invalid = new Set<number>();
  for (const m of run.stderr.matchAll(/^<stdin>:(\d+):\d+: warning: invalid instruction encoding/gm)) {
    invalid.add(Number(m[1]) - 1);
  }
  return { crashed: run.signal !== null || (run.status ?? 0) > 1, texts, invalid };
}

export interface FuzzResult {
  words: number;
  instructions: number;
  mismatches: string[];
  mismatchCount: number;
  crashes: number;
  operandFailures: number;
}

/** Whether one batch agrees; batches that do not are split until single blocks remain. */
function compare(llvmMc: string, target: TargetName, blocks: readonly Expected[], result: FuzzResult): void {
  const answer = ask(llvmMc, target, blocks);
  if (!answer.crashed && agrees(blocks, answer)) return;
  if (blocks.length === 1) {
    const block = blocks[0] as Expected;
    if (answer.crashed) {
      result.crashes++;
      return;
    }
    result.mismatchCount++;
    if (result.mismatches.length < 60) {
      const theirs = [...answer.texts, ...(answer.invalid.size > 0 ? ['(invalid)'] : [])].join('; ');
      const ours = [...block.texts, ...(block.invalidAt >= 0 ? ['(invalid)'] : [])].join('; ');
      result.mismatches.push(`${blockText(block.words)}\n  llvm ${theirs}\n  ours ${ours}`);
    }
    return;
  }
  if (result.mismatchCount > TOO_MANY) return;
  const middle = blocks.length >> 1;
  compare(llvmMc, target, blocks.slice(0, middle), result);
  compare(llvmMc, target, blocks.slice(middle), result);
}

function agrees(blocks: readonly Expected[], answer: Answer): boolean {
  let at = 0;
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i] as Expected;
    for (const text of block.texts) if (answer.texts[at++] !== text) return false;
    if (block.invalidAt >= 0 !== answer.invalid.has(i)) return false;
  }
  return at === answer.texts.length;
}

export interface FuzzOptions {
  /** Path of LLVM 22's llvm-mc. */
  readonly llvmMc: string;
  /** How many of the inputs with undecodable operands to try, one process each. */
  readonly singles: number;
}

/** Compares `count` random words; the same seed gives the same words. */
export function fuzzDecode(target: TargetName, count: number, seed: number, options: FuzzOptions): FuzzResult {
  const { llvmMc, singles } = options;
  const maker = new WordMaker(target, seed);
  const result: FuzzResult = {
    words: 0,
    instructions: 0,
    mismatches: [],
    mismatchCount: 0,
    crashes: 0,
    operandFailures: 0,
  };
  let batch: Expected[] = [];
  let left = singles;
  const every = Math.max(1, Math.floor(count / 8 / Math.max(1, singles)));
  while (result.words < count) {
    const block = expect(target, maker.make());
    result.words++;
    if (block.operandFailure) {
      result.operandFailures++;
      if (result.operandFailures % every === 0 && left > 0) {
        left--;
        compare(llvmMc, target, [block], result);
      }
      continue;
    }
    result.instructions += block.texts.length;
    batch.push(block);
    if (batch.length === BATCH) {
      compare(llvmMc, target, batch, result);
      batch = [];
      if (result.mismatchCount > TOO_MANY) return result;
    }
  }
  if (batch.length > 0) compare(llvmMc, target, batch, result);
  return result;
}

function main(argv: string[]): void {
  const [target = '', count = '100000', seed = '1'] = argv;
  if (!isTargetName(target)) {
    console.error('usage: fuzz-decode TARGET [COUNT] [SEED]');
    process.exitCode = 2;
    return;
  }
  const start = performance.now();
  const result = fuzzDecode(target, Number(count), Number(seed), { llvmMc: join(LLVM, 'llvm-mc'), singles: 200 });
  for (const text of result.mismatches) console.log(text);
  console.log(
    `${target} seed ${seed}: ${result.words} words, ${result.instructions} instructions compared, ` +
      `${result.mismatchCount} mismatches, ${result.operandFailures} with undecodable operands, ` +
      `${result.crashes} llvm-mc crashes, ${((performance.now() - start) / 1000).toFixed(0)} s`,
  );
  if (result.mismatchCount > 0) process.exitCode = 1;
}

if (process.argv[1]?.endsWith('fuzz-decode.ts')) main(process.argv.slice(2));
