// Disassembly as its users have it: whole processes, start-up included, on the largest code there is that does not repeat
// itself. `disasm --listing` and `disasm` against `llvm-objdump -d`, `mc -disassemble` against `llvm-mc -disassemble`; `check` and
// `inspect` alone.
// Run: npm run bench disassemble. Needs LLVM 22.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readElf } from '../src/codeobject/index.ts';
import { decoderFor } from '../src/isa/codec/decode.ts';
import type { TargetName } from '../src/isa/types.ts';
import { compare, llvm, printHeader, program, report, wavesmith, withFolder } from './support/processes.ts';
import { benchObjects, randomWords } from './support/texts.ts';

const ROUNDS = 5;
const WORDS = 100_000;

/** Bytes as `mc -disassemble` reads them, one block a line: a block ends at a position that does not decode. */
function byteLines(items: Iterable<Uint8Array>): string {
  const lines: string[] = [];
  for (const bytes of items)
    lines.push(`[${Array.from(bytes, (b) => `0x${b.toString(16).padStart(2, '0')}`).join(' ')}]`);
  return `${lines.join('\n')}\n`;
}

/** The instructions of a code object's text, bytes of each. */
function* instructionBytes(path: string, target: TargetName): Iterable<Uint8Array> {
  const bytes = readElf(readFileSync(path)).section('.text')?.bytes ?? new Uint8Array(0);
  const decoder = decoderFor(target);
  for (let at = 0; at < bytes.length; ) {
    const failures = decoder.operandFailures;
    const size = decoder.decode(bytes, at)?.size ?? 4;
    // LLVM 22 crashes on encodings whose operands cannot be decoded.
    if (decoder.operandFailures === failures) yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** Random words in blocks of their own; those on which LLVM 22 crashes are left out. */
function* randomBlocks(target: TargetName): Iterable<Uint8Array> {
  const next = randomWords(2);
  const decoder = decoderFor(target);
  for (let made = 0; made < WORDS; ) {
    const bytes = new Uint8Array(Uint32Array.of(next()).buffer);
    const failures = decoder.operandFailures;
    decoder.decode(bytes, 0);
    if (decoder.operandFailures !== failures) continue;
    made++;
    yield bytes;
  }
}

withFolder((folder) => {
  const out = join(folder, 'out');
  const inputs = benchObjects(folder);
  console.log(
    'Whole processes, start-up included, output to a file; in turn, after one run that fills the caches; the ratio is the median pair by pair.\n',
  );
  printHeader();
  for (const { name, path } of inputs) {
    const theirs = program(llvm('llvm-objdump'), '-d', path);
    console.log(name);
    compare(
      '  disasm --listing | llvm-objdump -d',
      program(wavesmith, 'disasm', '--listing', path),
      theirs,
      out,
      0.5,
      ROUNDS,
    );
    compare('  disasm           | llvm-objdump -d', program(wavesmith, 'disasm', path), theirs, out, 2, ROUNDS);
    report('  check', { ...program(wavesmith, 'check', path), statuses: [0, 1] }, out, 2);
    report('  inspect', program(wavesmith, 'inspect', path), out, 2);
  }
  const bytes = join(folder, 'bytes.txt');
  const mc = (name: string, target: TargetName) => {
    const args = ['-disassemble', '-triple=amdgcn-amd-amdhsa', `-mcpu=${target}`, bytes];
    const ours = { ...program(wavesmith, 'mc', ...args), statuses: [0, 1] };
    const theirs = { ...program(llvm('llvm-mc'), ...args), statuses: [0, 1] };
    console.log(name);
    compare('  mc -disassemble  | llvm-mc -disassemble', ours, theirs, out, 2, ROUNDS);
  };
  for (const { name, target, path } of inputs.filter((_, i) => i === 0 || i === inputs.length - 1)) {
    writeFileSync(bytes, byteLines(instructionBytes(path, target)));
    mc(name, target);
  }
  writeFileSync(bytes, byteLines(randomBlocks('gfx942')));
  mc(`${WORDS} random words, most of them no instruction`, 'gfx942');
});
