// Symbol lookup the way a loader does it: through .gnu.hash or .hash. Proves that a kernel can be found by its name.
// Source: System V gABI chapter 5, "Hash Table"; the GNU hash table as lld writes it.
import { ByteReader } from '../../base/index.ts';
import { type ElfFile, ElfSectionType, type ElfSymbol } from './read.ts';

const utf8 = new TextEncoder();

/** The hash of .gnu.hash. */
export function gnuHash(name: string): number {
  let h = 5381;
  for (const byte of utf8.encode(name)) h = (Math.imul(h, 33) + byte) >>> 0;
  return h;
}

/** The hash of .hash. */
export function sysvHash(name: string): number {
  let h = 0;
  for (const byte of utf8.encode(name)) {
    h = ((h << 4) + byte) >>> 0;
    const high = h & 0xf0000000;
    h = (h ^ (high >>> 24) ^ high) >>> 0;
  }
  return h;
}

/** Finds a dynamic symbol through one of the file's hash tables; undefined when the table does not lead to it. */
export function lookupDynamicSymbol(elf: ElfFile, name: string, table: 'gnu' | 'sysv'): ElfSymbol | undefined {
  const type = table === 'gnu' ? ElfSectionType.GNU_HASH : ElfSectionType.HASH;
  const section = elf.sections.find((s) => s.type === type);
  if (section === undefined) return undefined;
  const reader = new ByteReader(section.bytes, `section ${section.name}`, 'elf/truncated');
  const symbols = elf.dynamicSymbols;
  const candidates = table === 'gnu' ? gnuCandidates(reader, name) : sysvCandidates(reader, name);
  for (const index of candidates) {
    const symbol = symbols[index];
    if (symbol === undefined) return undefined;
    if (symbol.name === name) return symbol;
  }
  return undefined;
}

function* sysvCandidates(reader: ByteReader, name: string): Generator<number> {
  const bucketCount = reader.u32(0);
  const chainCount = reader.u32(4);
  if (bucketCount === 0) return;
  let index = reader.u32(8 + 4 * (sysvHash(name) % bucketCount));
  for (let steps = 0; index !== 0 && steps <= chainCount; steps++) {
    yield index;
    index = reader.u32(8 + 4 * bucketCount + 4 * index);
  }
}

function* gnuCandidates(reader: ByteReader, name: string): Generator<number> {
  const bucketCount = reader.u32(0);
  const firstIndex = reader.u32(4);
  const maskWords = reader.u32(8);
  const shift = reader.u32(12) & 31;
  if (bucketCount === 0 || maskWords === 0) return;
  const hash = gnuHash(name);
  const word = reader.u64(16 + 8 * (Math.floor(hash / 64) % maskWords));
  const bits = (1n << BigInt(hash % 64)) | (1n << BigInt((hash >>> shift) % 64));
  if ((word & bits) !== bits) return;
  const buckets = 16 + 8 * maskWords;
  const values = buckets + 4 * bucketCount;
  let index = reader.u32(buckets + 4 * (hash % bucketCount));
  if (index < firstIndex) return;
  for (;;) {
    const value = reader.u32(values + 4 * (index - firstIndex));
    if ((value | 1) >>> 0 === (hash | 1) >>> 0) yield index;
    if ((value & 1) !== 0) return;
    index++;
  }
}
