// Every .text of the reference code objects: our listing is llvm-objdump's, line by line.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readElf } from '../src/codeobject/elf/read.ts';
import { labelsByAddress, listing } from '../src/isa/print/listing.ts';
import { targetFromElfMach } from '../src/isa/table/targets.ts';
import { llvmTool } from './support/llvm.ts';
import { listingText } from './support/round-trip.ts';
import { sharedPath } from './support/shared.ts';

const STT_NOTYPE = 0;
const objdump = llvmTool('llvm-objdump');

/** `ADDRESS WORDS TEXT` of every line of a file's .text. */
function ours(path: string): string[] {
  const elf = readElf(readFileSync(path));
  const text = elf.section('.text');
  const target = targetFromElfMach(elf.header.flags & 0xff);
  if (text === undefined || target === undefined) throw new Error(`${path} has no .text or no known target`);
  const untyped = elf.symbols.filter((symbol) => symbol.type === STT_NOTYPE && symbol.section === text);
  const labels = labelsByAddress(untyped.map(({ value, name }) => ({ address: Number(value), name })));
  return Array.from(listing(text.bytes, text.address, target, { labels }), (line) => {
    const words = line.words.map((word) => word.toString(16).padStart(line.size < 4 ? 2 : 8, '0'));
    return `${line.address.toString(16)} ${words.join(' ')} ${line.text}`;
  });
}

function theirs(path: string): string[] {
  const run = spawnSync(objdump as string, ['-d', '-z', '-j', '.text', path], {
    maxBuffer: 1 << 30,
    encoding: 'latin1',
  });
  return run.stdout.split('\n').flatMap((line) => {
    const match = /^\t(.*?)\s*\/\/ ([0-9A-F]+): ([0-9A-F ]+)/.exec(line);
    if (match === null) return [];
    const [, text, address, words] = match as unknown as [string, string, string, string];
    return [`${Number.parseInt(address, 16).toString(16)} ${words.trim().toLowerCase()} ${text}`];
  });
}

describe.each(['gfx90a', 'gfx942', 'gfx950', 'triton'])('%s', (folder) => {
  const path = sharedPath('corpus', folder);
  test.skipIf(path === undefined || objdump === undefined)('listings equal llvm-objdump', () => {
    const files = readdirSync(path as string).filter((name) => /\.(co|hsaco)$/.test(name));
    expect(files.length).toBeGreaterThan(5);
    const wrong: string[] = [];
    for (const file of files) {
      const expected = theirs(join(path as string, file));
      const actual = ours(join(path as string, file));
      if (expected.length === 0 || actual.length !== expected.length) wrong.push(`${file}: line count`);
      const written = listingText(readFileSync(join(path as string, file))).split('\n');
      const asBytes = new Set(written.map((line) => line.replace(/^0*/, '').replaceAll('\t', ' ')));
      const lost = actual.find((line) => !asBytes.has(line));
      if (lost !== undefined) wrong.push(`${file}: 'disasm --listing' has no ${lost}`);
      const at = expected.findIndex((line, i) => line !== actual[i]);
      if (at >= 0) wrong.push(`${file}: ${expected[at]} | ${actual[at]}`);
    }
    expect(wrong).toEqual([]);
  });
});
