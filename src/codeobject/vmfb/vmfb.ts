// Room `codeobject/vmfb`: IREE modules: the archive, the executables inside, the host program's bytecode with what it says about
// launches, and replacing an executable in place.
// Begin with this file; patch.ts writes, dispatch.ts reads launches.
//
// IREE modules (`.vmfb`): the archive, the VM module's FlatBuffer, its rodata segments and the executables in them.
// Source: IREE's runtime/src/iree/schemas/bytecode_module_def.fbs, vm/bytecode/archive.c, ArchiveWriter.cpp.
import { ByteReader, WavesmithError } from '../../base/index.ts';
import { type ExecutableBlob, executableFormat, readExecutable } from './executable.ts';
import { FlatBuffer, type FlatTable } from './flatbuffer.ts';
import { readZipDirectory, type ZipDirectory, type ZipEntry } from './zip.ts';

/** A read-only data segment of the module; positions are absolute in the file. */
export interface VmfbRodata {
  readonly index: number;
  readonly kind: 'embedded' | 'external';
  readonly offset: number;
  readonly length: number;
  readonly bytes: Uint8Array;
  /** The archive entry's name, where there is an archive. */
  readonly name: string | undefined;
  readonly entry: ZipEntry | undefined;
  /** Where external_data_offset and external_data_length are stored (a default 0 is not stored). */
  readonly offsetPosition: number | undefined;
  readonly lengthPosition: number | undefined;
  /** Where the length of embedded data is stored. */
  readonly embeddedLengthPosition: number | undefined;
}

/** An executable of the module. */
export interface VmfbExecutable extends ExecutableBlob {
  /** Position in `executables`. */
  readonly index: number;
  readonly rodata: VmfbRodata;
  /** `matmul_dispatch_0_rocm_hsaco_fb` from the archive, or `executable_N` in a module without archive. */
  readonly name: string;
}

export interface VmfbFunction {
  readonly name: string;
  readonly ordinal: number;
  /** The VM calling convention, `0rr_r`. */
  readonly callingConvention: string | undefined;
  /** Reflection attributes such as `iree.abi.declaration`. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** The VM function descriptors and bytecode, for readers of the host program. */
export interface VmfbBytecode {
  readonly major: number;
  readonly minor: number;
  readonly data: Uint8Array;
  readonly functions: readonly { readonly offset: number; readonly length: number }[];
}

export interface Vmfb {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly archive: ZipDirectory | undefined;
  /** Where the FlatBuffer's u32 size prefix is; the FlatBuffer follows it. */
  readonly prefixOffset: number;
  readonly flatbufferOffset: number;
  readonly flatbufferSize: number;
  readonly rodataBase: number;
  readonly exportedFunctions: readonly VmfbFunction[];
  readonly importedFunctions: readonly string[];
  /** The VM calling convention of each imported function. */
  readonly importConventions: readonly string[];
  readonly rodata: readonly VmfbRodata[];
  readonly executables: readonly VmfbExecutable[];
  readonly bytecode: VmfbBytecode;
}

const IDENTIFIER = 'IREE';

interface Frame {
  prefixOffset: number;
  flatbufferOffset: number;
  flatbufferSize: number;
}

/** Where the module's FlatBuffer is, or undefined when the bytes are not an IREE module. */
function findFlatbuffer(bytes: Uint8Array): Frame | undefined {
  const reader = new ByteReader(bytes, 'IREE module', 'vmfb/truncated');
  let at = 0;
  if (bytes.length >= 34 && reader.u32(0) === 0x04034b50) at = 30 + reader.u16(26) + reader.u16(28);
  if (bytes.length < at + 12) return undefined;
  for (const prefix of [4, 0]) {
    if (String.fromCharCode(...bytes.subarray(at + prefix + 4, at + prefix + 8)) !== IDENTIFIER) continue;
    const size = prefix === 4 ? reader.u32(at) : bytes.length - at;
    return { prefixOffset: at, flatbufferOffset: at + prefix, flatbufferSize: size };
  }
  return undefined;
}

/** True when the bytes are an IREE module, with or without archive. */
export function isVmfb(bytes: Uint8Array): boolean {
  return findFlatbuffer(bytes) !== undefined;
}

/** Reads an IREE module; throws `vmfb/…` when it is not one or is damaged. */
export function readVmfb(bytes: Uint8Array): Vmfb {
  const frame = findFlatbuffer(bytes);
  if (frame === undefined) {
    throw new WavesmithError('vmfb/not-vmfb', 'The file is not an IREE module.', {
      byteOffset: 0,
      hint: "Give the '.vmfb' that iree-compile wrote.",
    });
  }
  const reader = new ByteReader(bytes, 'IREE module', 'vmfb/truncated');
  const content = reader.slice(frame.flatbufferOffset, frame.flatbufferSize);
  const buffer = new FlatBuffer(content, 'IREE module');
  const root = buffer.root();
  const archive = readZipDirectory(bytes);
  const rodataBase = Math.ceil((frame.flatbufferOffset + frame.flatbufferSize) / 64) * 64;
  const rodata = readRodata(root, reader, frame.flatbufferOffset, rodataBase, archive);
  const executables: VmfbExecutable[] = [];
  for (const segment of rodata) {
    if (executableFormat(segment.bytes) === undefined) continue;
    const index = executables.length;
    const name = segment.name?.replace(/\.[a-z]+$/, '') ?? `executable_${index}`;
    executables.push({ ...readExecutable(segment.bytes, segment.offset), index, rodata: segment, name });
  }
  const signatures = root.tables(8);
  const imports = root.tables(6);
  return {
    bytes,
    name: root.text(0) ?? '',
    archive,
    ...frame,
    rodataBase,
    exportedFunctions: root.tables(7).map((table) => readFunction(table, signatures)),
    importedFunctions: imports.map((table) => table.text(0) ?? ''),
    importConventions: imports.map((table) => table.table(1)?.text(0) ?? ''),
    rodata,
    executables,
    bytecode: readBytecode(root, reader, frame.flatbufferOffset),
  };
}

function readFunction(table: FlatTable, signatures: readonly FlatTable[]): VmfbFunction {
  const ordinal = table.i32(1);
  const signature = signatures[ordinal];
  const attributes: Record<string, string> = {};
  for (const attribute of signature?.tables(1) ?? []) {
    const key = attribute.text(0);
    if (key !== undefined) attributes[key] = attribute.text(1) ?? '';
  }
  return { name: table.text(0) ?? '', ordinal, callingConvention: signature?.text(0), attributes };
}

function readRodata(
  root: FlatTable,
  reader: ByteReader,
  flatbufferOffset: number,
  rodataBase: number,
  archive: ZipDirectory | undefined,
): VmfbRodata[] {
  const entryAt = new Map(archive?.entries.map((entry) => [entry.dataOffset, entry]));
  return root.tables(9).map((table, index): VmfbRodata => {
    const absolute = (position: number | undefined) =>
      position === undefined ? undefined : flatbufferOffset + position;
    if (table.u8(0) !== 0) {
      throw new WavesmithError('vmfb/compressed', `Rodata segment ${index} is compressed, which is not supported.`, {
        byteOffset: flatbufferOffset + table.at,
      });
    }
    const embedded = table.vector(2, 1);
    if (embedded !== undefined) {
      return {
        index,
        kind: 'embedded',
        offset: flatbufferOffset + embedded.at,
        length: embedded.length,
        bytes: reader.slice(flatbufferOffset + embedded.at, embedded.length),
        name: undefined,
        entry: undefined,
        offsetPosition: undefined,
        lengthPosition: undefined,
        embeddedLengthPosition: flatbufferOffset + embedded.at - 4,
      };
    }
    const offset = rodataBase + table.u64(3);
    const length = table.u64(4);
    const entry = entryAt.get(offset);
    return {
      index,
      kind: 'external',
      offset,
      length,
      bytes: reader.slice(offset, length),
      name: entry?.name,
      entry,
      offsetPosition: absolute(table.position(3)),
      lengthPosition: absolute(table.position(4)),
      embeddedLengthPosition: undefined,
    };
  });
}

const FUNCTION_DESCRIPTOR_SIZE = 20;

function readBytecode(root: FlatTable, reader: ByteReader, flatbufferOffset: number): VmfbBytecode {
  const version = root.u32(13);
  const data = root.vector(14, 1);
  const descriptors = root.vector(12, FUNCTION_DESCRIPTOR_SIZE);
  const functions: { offset: number; length: number }[] = [];
  for (let i = 0; i < (descriptors?.length ?? 0); i++) {
    const at = flatbufferOffset + descriptors!.at + i * FUNCTION_DESCRIPTOR_SIZE;
    functions.push({ offset: reader.u32(at), length: reader.u32(at + 4) });
  }
  return {
    major: version >>> 16,
    minor: version & 0xffff,
    data: data === undefined ? new Uint8Array(0) : reader.slice(flatbufferOffset + data.at, data.length),
    functions,
  };
}
