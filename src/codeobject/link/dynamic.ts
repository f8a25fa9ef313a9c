// The tables a loader reads: .dynsym, .gnu.hash, .hash, .dynstr, .rela.dyn and .dynamic.
// Source: System V gABI chapter 5; lld/ELF/SyntheticSections.cpp for sizes and orders.
import { ByteWriter } from '../../base/index.ts';
import { gnuHash, sysvHash } from '../elf/hash.ts';
import { RelocationType } from '../elf/object-model.ts';
import { AppendedStringTable } from '../elf/string-table.ts';
import { RELA_SIZE, SYMBOL_SIZE } from '../elf/write.ts';
import type { LinkedSymbol, OutputSection } from './input.ts';

/** One record of .rela.dyn; `symbol` undefined is a RELATIVE64. */
export interface DynamicRelocation {
  readonly section: OutputSection;
  readonly offset: number;
  readonly type: number;
  readonly symbol: LinkedSymbol | undefined;
  readonly addend: () => bigint;
}

/** The dynamic symbols in .gnu.hash order, and their names. */
export interface DynamicSymbols {
  readonly symbols: readonly LinkedSymbol[];
  readonly nameOffsets: ReadonlyMap<LinkedSymbol, number>;
  readonly strings: Uint8Array;
  readonly gnuHash: Uint8Array;
  readonly hash: Uint8Array;
}

/** Orders the dynamic symbols and builds both hash tables. */
export function buildDynamicSymbols(exported: readonly LinkedSymbol[]): DynamicSymbols {
  const strings = new AppendedStringTable();
  const nameOffsets = new Map<LinkedSymbol, number>();
  for (const symbol of exported) nameOffsets.set(symbol, strings.add(symbol.name));
  const undefinedOnes = exported.filter((s) => s.definition.kind === 'undefined');
  const defined = exported.filter((s) => s.definition.kind !== 'undefined');
  const bucketCount = Math.max(Math.floor(defined.length / 4), 1);
  const entries = defined.map((symbol) => {
    const hash = gnuHash(symbol.name);
    return { symbol, hash, bucket: hash % bucketCount };
  });
  entries.sort((a, b) => a.bucket - b.bucket || nameOffsets.get(a.symbol)! - nameOffsets.get(b.symbol)!);
  const symbols = [...undefinedOnes, ...entries.map((e) => e.symbol)];
  symbols.forEach((symbol, i) => {
    symbol.dynamicIndex = i + 1;
  });
  let maskWords = 1;
  const wanted = Math.floor((defined.length * 12) / 64);
  while (defined.length > 0 && maskWords <= wanted) maskWords *= 2;
  const bloom = new BigUint64Array(maskWords);
  for (const { hash } of entries) {
    bloom[Math.floor(hash / 64) & (maskWords - 1)] |= (1n << BigInt(hash % 64)) | (1n << BigInt((hash >>> 26) % 64));
  }
  const gnu = new ByteWriter()
    .u32(bucketCount)
    .u32(symbols.length + 1 - defined.length)
    .u32(maskWords)
    .u32(26);
  for (const word of bloom) gnu.u64(word);
  const buckets = new Uint32Array(bucketCount);
  for (const e of entries) if (buckets[e.bucket] === 0) buckets[e.bucket] = e.symbol.dynamicIndex;
  for (const bucket of buckets) gnu.u32(bucket);
  entries.forEach((e, i) => {
    const isLast = entries[i + 1]?.bucket !== e.bucket;
    gnu.u32(isLast ? (e.hash | 1) >>> 0 : (e.hash & ~1) >>> 0);
  });
  const count = symbols.length + 1;
  const sysvBuckets = new Uint32Array(count);
  const chains = new Uint32Array(count);
  for (const symbol of symbols) {
    const bucket = sysvHash(symbol.name) % count;
    chains[symbol.dynamicIndex] = sysvBuckets[bucket];
    sysvBuckets[bucket] = symbol.dynamicIndex;
  }
  const sysv = new ByteWriter().u32(count).u32(count);
  for (const value of [...sysvBuckets, ...chains]) sysv.u32(value);
  return { symbols, nameOffsets, strings: strings.finish(), gnuHash: gnu.finish(), hash: sysv.finish() };
}

/** The content of .rela.dyn: RELATIVE64 by address, then by symbol and address. */
export function relaDynBytes(relocations: readonly DynamicRelocation[]): Uint8Array {
  const rows = relocations.map((r) => ({
    at: r.section.address + r.offset,
    type: r.type,
    symbol: r.symbol?.dynamicIndex ?? 0,
    addend: r.addend(),
  }));
  const isRelative = (type: number) => (type === RelocationType.RELATIVE64 ? 0 : 1);
  rows.sort((a, b) => isRelative(a.type) - isRelative(b.type) || a.symbol - b.symbol || a.at - b.at);
  const writer = new ByteWriter(rows.length * RELA_SIZE);
  for (const row of rows)
    writer
      .u64(row.at)
      .u64((BigInt(row.symbol) << 32n) | BigInt(row.type))
      .u64(row.addend);
  return writer.finish();
}

const DT = {
  HASH: 4,
  STRTAB: 5,
  SYMTAB: 6,
  RELA: 7,
  RELASZ: 8,
  RELAENT: 9,
  STRSZ: 10,
  SYMENT: 11,
  INIT_ARRAY: 25,
  FINI_ARRAY: 26,
  INIT_ARRAYSZ: 27,
  FINI_ARRAYSZ: 28,
  PREINIT_ARRAY: 32,
  PREINIT_ARRAYSZ: 33,
  GNU_HASH: 0x6ffffef5,
  RELACOUNT: 0x6ffffff9,
} as const;

/** What .dynamic refers to. */
export interface DynamicTableInputs {
  readonly section: (name: string) => OutputSection | undefined;
  readonly relativeCount: number;
}

/** The content of .dynamic; called once for its size and once more when addresses are known. */
export function dynamicBytes({ section, relativeCount }: DynamicTableInputs): Uint8Array {
  const writer = new ByteWriter(256);
  const entry = (tag: number, value: number) => writer.u64(tag).u64(value);
  const at = (tag: number, name: string) => entry(tag, section(name)?.address ?? 0);
  const rela = section('.rela.dyn');
  if (rela !== undefined) {
    entry(DT.RELA, rela.address);
    entry(DT.RELASZ, rela.size);
    entry(DT.RELAENT, RELA_SIZE);
    if (relativeCount > 0) entry(DT.RELACOUNT, relativeCount);
  }
  at(DT.SYMTAB, '.dynsym');
  entry(DT.SYMENT, SYMBOL_SIZE);
  at(DT.STRTAB, '.dynstr');
  entry(DT.STRSZ, section('.dynstr')?.size ?? 0);
  at(DT.GNU_HASH, '.gnu.hash');
  at(DT.HASH, '.hash');
  const arrays = [
    ['.preinit_array', DT.PREINIT_ARRAY, DT.PREINIT_ARRAYSZ],
    ['.init_array', DT.INIT_ARRAY, DT.INIT_ARRAYSZ],
    ['.fini_array', DT.FINI_ARRAY, DT.FINI_ARRAYSZ],
  ] as const;
  for (const [name, tag, sizeTag] of arrays) {
    const found = section(name);
    if (found === undefined) continue;
    entry(tag, found.address);
    entry(sizeTag, found.size);
  }
  entry(0, 0);
  return writer.finish();
}
