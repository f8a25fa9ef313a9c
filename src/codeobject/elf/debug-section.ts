// Sections of debug information, decompressed where the linker has compressed them (`-gz`). Source: ELF gABI, "Section Compression".
import { WavesmithError } from '../../base/index.ts';
import { checkZstdFrame, inflateZlib, inflateZstd } from '../decompress.ts';
import type { ElfFile } from './read.ts';

const SHF_COMPRESSED = 0x800n;
const ELFCOMPRESS_ZLIB = 1;
const ELFCOMPRESS_ZSTD = 2;
/** Bytes of an Elf64_Chdr: type, size at 8, alignment. */
const HEADER_BYTES = 24;

/** The bytes of a section by its whole name; undefined where it is not there, and where it is damaged. */
export function debugSection(elf: ElfFile, name: string): Uint8Array | undefined {
  const section = elf.sections.find((one) => one.name === name);
  if (section === undefined || (section.flags & SHF_COMPRESSED) === 0n) return section?.bytes;
  const { bytes } = section;
  if (bytes.length < HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const method = view.getUint32(0, true);
  const size = Number(view.getBigUint64(8, true));
  const data = bytes.subarray(HEADER_BYTES);
  try {
    const found =
      method === ELFCOMPRESS_ZLIB
        ? inflateZlib(data, size, 0)
        : method === ELFCOMPRESS_ZSTD
          ? inflateZstd(data, checkZstdFrame(data, size, 0), 0)
          : undefined;
    return found?.length === size ? found : undefined;
  } catch (error) {
    if (error instanceof WavesmithError) return undefined;
    throw error;
  }
}
