// IREE's executable blobs inside a module: HIP1 and AMD1 FlatBuffers (with and without the 64-byte header), raw ELF.
// Source: IREE's runtime/src/iree/schemas/{rocm,amdgpu}_executable_def.fbs, hal/utils/executable_header.c.
import { ByteReader, WavesmithError } from '../../base/index.ts';
import { isElf } from '../elf/read.ts';
import { FlatBuffer, type FlatTable } from './flatbuffer.ts';

export type ExecutableFormat = 'HIP1' | 'AMD1' | 'ELF';

/** An ELF image inside an executable; positions are absolute in the module file. */
export interface ExecutableImage {
  readonly offset: number;
  readonly size: number;
  readonly bytes: Uint8Array;
  /** Where the u32 length before the image is; undefined for a raw ELF blob. */
  readonly lengthPosition: number | undefined;
  /** Where the uoffset that points at the image's string is; undefined for a raw ELF blob. */
  readonly referencePosition: number | undefined;
}

/** A kernel that an executable exports. */
export interface ExecutableExport {
  readonly ordinal: number;
  /** Without `.kd`. */
  readonly kernelName: string;
  /** Index of the image that holds the kernel. */
  readonly image: number;
  /** Workgroup size in work-items. */
  readonly workgroupSize: readonly [number, number, number];
  /** 32-bit constants that follow the binding pointers in the kernarg segment. */
  readonly constantCount: number;
  /** One entry per binding; bit 0 read-only, bit 1 indirect. */
  readonly bindingFlags: readonly number[];
  readonly debugName: string | undefined;
  readonly source: { readonly file: string; readonly line: number } | undefined;
  /** Where the three u32 of the workgroup size are stored. */
  readonly workgroupSizePosition: number;
}

/** A parsed executable blob. */
export interface ExecutableBlob {
  readonly format: ExecutableFormat;
  /** True when the FlatBuffer follows IREE's 64-byte header (IREE 3.9 and newer). */
  readonly hasHeader: boolean;
  readonly images: readonly ExecutableImage[];
  readonly exports: readonly ExecutableExport[];
  /** AMD1's `isa` string. */
  readonly isa: string | undefined;
  readonly sources: readonly { readonly path: string; readonly content: Uint8Array }[];
}

export const EXECUTABLE_HEADER_SIZE = 64;
const MAX_BINDINGS = 64;

function magicAt(bytes: Uint8Array, at: number): ExecutableFormat | undefined {
  if (bytes.length < at + 4) return undefined;
  const text = String.fromCharCode(...bytes.subarray(at, at + 4));
  return text === 'HIP1' || text === 'AMD1' ? text : undefined;
}

/** What kind of executable a rodata segment is, by its first bytes; undefined when it is none. */
export function executableFormat(bytes: Uint8Array): { format: ExecutableFormat; hasHeader: boolean } | undefined {
  if (isElf(bytes)) return { format: 'ELF', hasHeader: false };
  const withHeader = magicAt(bytes, 0);
  if (withHeader !== undefined) return { format: withHeader, hasHeader: true };
  const bare = magicAt(bytes, 4);
  return bare === undefined ? undefined : { format: bare, hasHeader: false };
}

/** Parses an executable blob whose first byte is at `base` in the module file. */
export function readExecutable(bytes: Uint8Array, base: number): ExecutableBlob {
  const kind = executableFormat(bytes);
  if (kind === undefined) {
    throw new WavesmithError('vmfb/not-executable', 'The segment is not a HIP1, AMD1 or ELF executable.', {
      byteOffset: base,
    });
  }
  if (kind.format === 'ELF') {
    const image = { offset: base, size: bytes.length, bytes, lengthPosition: undefined, referencePosition: undefined };
    return { ...kind, images: [image], exports: [], isa: undefined, sources: [] };
  }
  const start = kind.hasHeader ? EXECUTABLE_HEADER_SIZE : 0;
  let size = bytes.length - start;
  if (kind.hasHeader) {
    const reader = new ByteReader(bytes, 'executable header', 'vmfb/bad-executable');
    const version = reader.u32(4);
    size = reader.u64AsNumber(8);
    reader.check(start, size);
    if (version !== 0) {
      throw new WavesmithError('vmfb/executable-version', `The executable header has version ${version}, not 0.`, {
        byteOffset: base + 4,
        hint: 'The module was made by an IREE newer than this tool knows.',
      });
    }
  }
  const content = bytes.subarray(start, start + size);
  const buffer = new FlatBuffer(content, `${kind.format} executable`);
  if (magicAt(content, 4) !== kind.format) {
    throw new WavesmithError('vmfb/bad-executable', `The executable's FlatBuffer is not marked ${kind.format}.`, {
      byteOffset: base + start + 4,
    });
  }
  const root = buffer.root();
  const origin = base + start;
  const isHip = kind.format === 'HIP1';
  const fields = isHip ? { exports: 0, images: 1, sources: 2 } : { exports: 1, images: 2, sources: 3 };
  const images = root.tables(fields.images).map((table): ExecutableImage => {
    const found = table.string(0);
    if (found === undefined) {
      throw new WavesmithError('vmfb/no-image', 'The executable has a module without an image.', {
        byteOffset: origin,
      });
    }
    return {
      offset: origin + found.at,
      size: found.length,
      bytes: content.subarray(found.at, found.at + found.length),
      lengthPosition: origin + found.at - 4,
      referencePosition: origin + table.position(0)!,
    };
  });
  const exports = root.tables(fields.exports).map((table, i) => readExport(table, i, isHip, origin));
  const sources = root.tables(fields.sources).map((table) => {
    const found = table.vector(1, 1);
    if (found !== undefined) buffer.spend(8, found.at);
    return {
      path: table.text(0) ?? '',
      content: found === undefined ? new Uint8Array(0) : content.subarray(found.at, found.at + found.length),
    };
  });
  return { ...kind, images, exports, isa: isHip ? undefined : root.text(0), sources };
}

function readExport(table: FlatTable, ordinal: number, isHip: boolean, origin: number): ExecutableExport {
  const { reader } = table.buffer;
  const fields = isHip
    ? { name: 1, size: 2, constants: 4, bindings: 5, debug: 6 }
    : { name: 0, size: 1, constants: 2, bindings: 3, debug: 4 };
  const sizeAt = table.position(fields.size);
  const name = table.text(fields.name);
  if (sizeAt === undefined || name === undefined) {
    throw new WavesmithError(
      'vmfb/bad-export',
      `Export ${ordinal} has no ${name === undefined ? 'name' : 'workgroup size'}.`,
      {
        byteOffset: origin + table.at,
      },
    );
  }
  const flags = table.vector(fields.bindings, 8);
  if ((flags?.length ?? 0) > MAX_BINDINGS) {
    throw new WavesmithError('vmfb/bad-export', `Export '${name}' claims ${flags!.length} bindings.`, {
      byteOffset: origin + flags!.at,
    });
  }
  const bindingFlags: number[] = [];
  for (let i = 0; i < (flags?.length ?? 0); i++) bindingFlags.push(reader.u64AsNumber(flags!.at + 8 * i));
  const debug = table.table(fields.debug);
  const location = debug?.table(1);
  return {
    ordinal,
    kernelName: isHip ? name : name.replace(/\.kd$/, ''),
    image: isHip ? table.u32(0) : 0,
    workgroupSize: [reader.u32(sizeAt), reader.u32(sizeAt + 4), reader.u32(sizeAt + 8)],
    constantCount: table.u32(fields.constants),
    bindingFlags,
    debugName: debug?.text(0),
    source: location && { file: location.text(0) ?? '', line: location.i32(1) },
    workgroupSizePosition: origin + sizeAt,
  };
}
