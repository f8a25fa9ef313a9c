// What two files hold beside a kernel's instructions: constant data, what the loader writes into them, tables between the code.
import type { ElfSection } from '../codeobject/elf/read.ts';
import type { CodeObject } from '../codeobject/index.ts';
import type { Program } from '../program/index.ts';

const SHF_ALLOC = 2n;
const SHF_EXECINSTR = 4n;
const SHT_NOBITS = 8;
/** Sections of the loader, which no kernel reads. */
const LOADER = /^\.(note|dynsym|gnu\.hash|hash|dynstr|dynamic|rela|relro_padding)/;

const isCode = (s: ElfSection): boolean => (s.flags & SHF_EXECINSTR) !== 0n;
const isLoaded = (s: ElfSection): boolean => (s.flags & SHF_ALLOC) !== 0n && !LOADER.test(s.name);
const dataSections = (o: CodeObject): readonly ElfSection[] => o.elf.sections.filter((s) => isLoaded(s) && !isCode(s));

/** Bytes of a section with the kernel descriptors in it blanked. */
function constantBytes(o: CodeObject, section: ElfSection): Uint8Array {
  if (section.type === SHT_NOBITS) return new Uint8Array(0);
  // Not slice(): of a Buffer it would be a view.
  const bytes = new Uint8Array(section.bytes);
  for (const { descriptorSymbol } of o.kernels) {
    if (descriptorSymbol?.section !== section) continue;
    const at = Number(descriptorSymbol.value) - section.address;
    bytes.fill(0, Math.max(at, 0), at + 64);
  }
  return bytes;
}

/** Whether two runs of bytes are equal. */
export const isSameBytes = (p: Uint8Array, q: Uint8Array): boolean =>
  p.length === q.length && p.every((byte, i) => byte === q[i]);

/** What the loader writes, sorted: where, how, and an external symbol or an address of the file; addresses less `shift`. */
function loaderWrites(o: CodeObject, shift: bigint): string {
  return o.elf.relocationSections
    .flatMap(({ relocations }) => relocations)
    .map(({ offset, type, symbol, addend = 0n }) => {
      const isOutside = symbol !== undefined && symbol.section === undefined;
      const to = isOutside ? `${symbol.name}+${addend}` : (symbol?.value ?? 0n) + addend - shift;
      return `${BigInt(offset) - shift} ${type} ${to}`;
    })
    .sort()
    .join(',');
}

/**
 * How far the second file's constant data is from the first's. Undefined when the data differ, are relocated otherwise, or moved by
 * different distances, so that addresses of the two files cannot be compared.
 */
export function dataShift(a: CodeObject, b: CodeObject): bigint | undefined {
  const [x, y] = [dataSections(a), dataSections(b)];
  let shift: bigint | undefined;
  for (const section of x) {
    const other = y.find((s) => s.name === section.name);
    if (other === undefined || other.size !== section.size) return undefined;
    if (!isSameBytes(constantBytes(a, section), constantBytes(b, other))) return undefined;
    const distance = BigInt(other.address) - BigInt(section.address);
    if (shift !== undefined && shift !== distance) return undefined;
    shift = distance;
  }
  if (y.length !== x.length) return undefined;
  const distance = shift ?? 0n;
  return loaderWrites(a, 0n) === loaderWrites(b, distance) ? distance : undefined;
}

/** Whether the code sections of two files are the same bytes at the same addresses. */
export function hasSameCodeSections(a: CodeObject, b: CodeObject): boolean {
  const [x, y] = [a, b].map((o) => o.elf.sections.filter(isCode)) as [ElfSection[], ElfSection[]];
  return (
    x.length === y.length &&
    x.every((s, i) => s.address === y[i]?.address && isSameBytes(s.bytes, (y[i] as ElfSection).bytes))
  );
}

/** Whether an address lies in the file's data, as opposed to its code. */
export function isDataAddress(o: CodeObject, address: bigint): boolean {
  return dataSections(o).some((s) => address >= BigInt(s.address) && address < BigInt(s.address + s.size));
}

/** Bytes of the code sections that are no instructions of the program, by address less `shift`. */
function betweenCode({ elf }: CodeObject, program: Program, shift: number): Map<number, number> {
  const out = new Map<number, number>();
  for (const section of elf.sections.filter(isCode)) {
    section.bytes.forEach((byte, i) => {
      out.set(section.address + i - shift, byte);
    });
  }
  for (const { pc, instruction } of program.instructions) {
    for (let n = 0; n < instruction.size; n++) out.delete(pc + n - shift);
  }
  return out;
}

/** What fills up code: s_nop 0 and s_code_end. */
const PADDING: ReadonlySet<number> = new Set([0xbf800000, 0xbf9f0000]);

/** Whether the code sections hold more than a program's instructions and what fills them up. */
export function hasTables(codeObject: CodeObject, program: Program): boolean {
  const bytes = betweenCode(codeObject, program, 0);
  for (const at of bytes.keys()) {
    const word = at - (at & 3);
    const value = [0, 1, 2, 3].reduce((sum, n) => sum + (bytes.get(word + n) ?? 0) * 2 ** (8 * n), 0);
    if (!PADDING.has(value)) return true;
  }
  return false;
}

/** Whether what lies in the code sections beside a kernel's own instructions is the same at the same distance from the data. */
export function hasSameTables(
  [a, x]: readonly [CodeObject, Program],
  [b, y]: readonly [CodeObject, Program],
  shift: bigint,
): boolean {
  const [p, q] = [betweenCode(a, x, 0), betweenCode(b, y, Number(shift))];
  return p.size === q.size && [...p].every(([at, byte]) => q.get(at) === byte);
}
