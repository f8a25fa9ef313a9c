// MessagePack as LLVM reads and writes it: map keys sorted, shortest integer forms, floats as float32 when in range.
// Source: the MessagePack specification; LLVM's lib/BinaryFormat/MsgPack{Document,Reader,Writer}.cpp.
import { ByteReader, ByteWriter, WavesmithError } from '../../base/index.ts';

/** A MessagePack extension value. */
export class MsgPackExtension {
  readonly type: number;
  readonly data: Uint8Array;
  constructor(type: number, data: Uint8Array) {
    this.type = type;
    this.data = data;
  }
}

/** Integers are bigint, floats are number; maps keep any scalar as key. */
export type MsgPackValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | MsgPackExtension
  | MsgPackValue[]
  | MsgPackMap;
export type MsgPackMap = Map<MsgPackValue, MsgPackValue>;

const MAX_DEPTH = 64;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes exactly one MessagePack value; `byteOffset` of errors counts from `baseOffset`. */
export function decodeMsgPack(bytes: Uint8Array, baseOffset = 0): MsgPackValue {
  const decoder = new Decoder(bytes, baseOffset);
  const value = decoder.value(0);
  if (decoder.at !== bytes.length) {
    throw new WavesmithError('msgpack/trailing', `${bytes.length - decoder.at} bytes follow the MessagePack value.`, {
      byteOffset: baseOffset + decoder.at,
    });
  }
  return value;
}

class Decoder {
  at = 0;
  private readonly reader: ByteReader;
  private readonly baseOffset: number;
  private readonly view: DataView;

  constructor(bytes: Uint8Array, baseOffset: number) {
    this.reader = new ByteReader(bytes, 'MessagePack data', 'msgpack/truncated');
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.baseOffset = baseOffset;
  }

  /** Reads a big-endian unsigned length of 1, 2 or 4 bytes. */
  private length(width: 1 | 2 | 4): number {
    const at = this.take(width);
    return width === 1 ? this.view.getUint8(at) : width === 2 ? this.view.getUint16(at) : this.view.getUint32(at);
  }

  private take(size: number): number {
    this.reader.check(this.at, size);
    const at = this.at;
    this.at += size;
    return at;
  }

  private bytes(size: number): Uint8Array {
    return this.reader.slice(this.take(size), size);
  }

  private text(size: number): string {
    const at = this.take(size);
    try {
      return strictUtf8.decode(this.reader.slice(at, size));
    } catch (cause) {
      throw new WavesmithError('msgpack/bad-text', 'A MessagePack string is not valid UTF-8.', {
        byteOffset: this.baseOffset + at,
        cause,
      });
    }
  }

  value(depth: number): MsgPackValue {
    const first = this.reader.u8(this.take(1));
    if (depth > MAX_DEPTH) {
      throw new WavesmithError('msgpack/depth', `MessagePack data nests deeper than ${MAX_DEPTH}.`, {
        byteOffset: this.baseOffset + this.at,
      });
    }
    if (first <= 0x7f) return BigInt(first);
    if (first <= 0x8f) return this.map(first & 0xf, depth);
    if (first <= 0x9f) return this.array(first & 0xf, depth);
    if (first <= 0xbf) return this.text(first & 0x1f);
    if (first >= 0xe0) return BigInt(first - 256);
    switch (first) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
        return this.bytes(this.length(1));
      case 0xc5:
        return this.bytes(this.length(2));
      case 0xc6:
        return this.bytes(this.length(4));
      case 0xc7:
        return this.extension(this.length(1));
      case 0xc8:
        return this.extension(this.length(2));
      case 0xc9:
        return this.extension(this.length(4));
      case 0xca:
        return this.view.getFloat32(this.take(4));
      case 0xcb:
        return this.view.getFloat64(this.take(8));
      case 0xcc:
        return BigInt(this.view.getUint8(this.take(1)));
      case 0xcd:
        return BigInt(this.view.getUint16(this.take(2)));
      case 0xce:
        return BigInt(this.view.getUint32(this.take(4)));
      case 0xcf:
        return this.view.getBigUint64(this.take(8));
      case 0xd0:
        return BigInt(this.view.getInt8(this.take(1)));
      case 0xd1:
        return BigInt(this.view.getInt16(this.take(2)));
      case 0xd2:
        return BigInt(this.view.getInt32(this.take(4)));
      case 0xd3:
        return this.view.getBigInt64(this.take(8));
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return this.extension(1 << (first - 0xd4));
      case 0xd9:
        return this.text(this.length(1));
      case 0xda:
        return this.text(this.length(2));
      case 0xdb:
        return this.text(this.length(4));
      case 0xdc:
        return this.array(this.length(2), depth);
      case 0xdd:
        return this.array(this.length(4), depth);
      case 0xde:
        return this.map(this.length(2), depth);
      case 0xdf:
        return this.map(this.length(4), depth);
      default:
        throw new WavesmithError('msgpack/bad-byte', `0x${first.toString(16)} does not start a MessagePack value.`, {
          byteOffset: this.baseOffset + this.at - 1,
        });
    }
  }

  private extension(size: number): MsgPackExtension {
    const type = this.view.getInt8(this.take(1));
    return new MsgPackExtension(type, this.bytes(size));
  }

  private array(count: number, depth: number): MsgPackValue[] {
    this.reader.check(this.at, count);
    const items: MsgPackValue[] = [];
    for (let i = 0; i < count; i++) items.push(this.value(depth + 1));
    return items;
  }

  private map(count: number, depth: number): MsgPackMap {
    this.reader.check(this.at, 2 * count);
    const map: MsgPackMap = new Map();
    for (let i = 0; i < count; i++) {
      const keyAt = this.at;
      const key = this.value(depth + 1);
      if (key !== null && typeof key === 'object') {
        throw new WavesmithError('msgpack/bad-key', 'A MessagePack map has a key that is not a scalar.', {
          byteOffset: this.baseOffset + keyAt,
        });
      }
      if (map.has(key)) {
        throw new WavesmithError('msgpack/duplicate-key', `A MessagePack map has the key '${String(key)}' twice.`, {
          byteOffset: this.baseOffset + keyAt,
        });
      }
      map.set(key, this.value(depth + 1));
    }
    return map;
  }
}

/** LLVM's DocNode order: integers below zero, other integers, nil, booleans, floats, strings by their bytes. */
export function compareKeys(a: MsgPackValue, b: MsgPackValue): number {
  const rank = keyRank(a) - keyRank(b);
  if (rank !== 0) return rank;
  if (typeof a === 'string' && typeof b === 'string') return compareUtf8(a, b);
  if (a === b || a === null || b === null) return 0;
  return a < b ? -1 : 1;
}

function keyRank(key: MsgPackValue): number {
  if (typeof key === 'bigint') return key < 0n ? 0 : 1;
  if (key === null) return 2;
  if (typeof key === 'boolean') return 3;
  if (typeof key === 'number') return 4;
  return 5;
}

/** Order of the UTF-8 encodings, which is code point order (JavaScript's `<` is UTF-16 order). */
function compareUtf8(a: string, b: string): number {
  const x = [...a];
  const y = [...b];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const difference = x[i].codePointAt(0)! - y[i].codePointAt(0)!;
    if (difference !== 0) return difference;
  }
  return x.length - y.length;
}

/** The entries of a map in the order in which LLVM writes and prints them. */
export function sortedEntries(map: MsgPackMap): [MsgPackValue, MsgPackValue][] {
  return [...map].sort(([a], [b]) => compareKeys(a, b));
}

/** Encodes a value byte for byte as LLVM's msgpack::Document::writeToBlob does. */
export function encodeMsgPack(value: MsgPackValue): Uint8Array {
  const writer = new ByteWriter(1024);
  write(writer, value, 0);
  return writer.finish();
}

const utf8 = new TextEncoder();
const MIN_NORMAL_FLOAT32 = 2 ** -126;
const MAX_FLOAT32 = 3.4028234663852886e38;

function bigEndian(writer: ByteWriter, value: bigint, width: number): void {
  for (let shift = 8 * (width - 1); shift >= 0; shift -= 8) writer.u8(Number((value >> BigInt(shift)) & 0xffn));
}

function write(writer: ByteWriter, value: MsgPackValue, depth: number): void {
  if (depth > MAX_DEPTH) {
    throw new WavesmithError('msgpack/depth', `The value nests deeper than ${MAX_DEPTH}.`);
  }
  if (value === null) writer.u8(0xc0);
  else if (typeof value === 'boolean') writer.u8(value ? 0xc3 : 0xc2);
  else if (typeof value === 'bigint') writeInteger(writer, value);
  else if (typeof value === 'number') writeFloat(writer, value);
  else if (typeof value === 'string') {
    const text = utf8.encode(value);
    if (text.length <= 31) writer.u8(0xa0 | text.length);
    else writeLength(writer, text.length, 0xd9, 0xda, 0xdb);
    writer.raw(text);
  } else if (value instanceof Uint8Array) {
    writeLength(writer, value.length, 0xc4, 0xc5, 0xc6);
    writer.raw(value);
  } else if (value instanceof MsgPackExtension) {
    const fixed = [1, 2, 4, 8, 16].indexOf(value.data.length);
    if (fixed >= 0) writer.u8(0xd4 + fixed);
    else writeLength(writer, value.data.length, 0xc7, 0xc8, 0xc9);
    writer.u8(value.type & 0xff).raw(value.data);
  } else if (Array.isArray(value)) {
    if (value.length <= 15) writer.u8(0x90 | value.length);
    else writeLength(writer, value.length, undefined, 0xdc, 0xdd);
    for (const item of value) write(writer, item, depth + 1);
  } else {
    if (value.size <= 15) writer.u8(0x80 | value.size);
    else writeLength(writer, value.size, undefined, 0xde, 0xdf);
    for (const [key, item] of sortedEntries(value)) {
      write(writer, key, depth + 1);
      write(writer, item, depth + 1);
    }
  }
}

function writeLength(writer: ByteWriter, length: number, first8: number | undefined, first16: number, first32: number) {
  if (first8 !== undefined && length <= 0xff) writer.u8(first8).u8(length);
  else if (length <= 0xffff) bigEndian(writer.u8(first16), BigInt(length), 2);
  else bigEndian(writer.u8(first32), BigInt(length), 4);
}

function writeInteger(writer: ByteWriter, value: bigint): void {
  if (value < -(1n << 63n) || value >= 1n << 64n) {
    throw new WavesmithError('msgpack/range', `The integer ${value} does not fit 64 bits.`);
  }
  if (value >= 0n) {
    if (value <= 0x7fn) writer.u8(Number(value));
    else if (value <= 0xffn) bigEndian(writer.u8(0xcc), value, 1);
    else if (value <= 0xffffn) bigEndian(writer.u8(0xcd), value, 2);
    else if (value <= 0xffffffffn) bigEndian(writer.u8(0xce), value, 4);
    else bigEndian(writer.u8(0xcf), value, 8);
  } else if (value >= -32n) writer.u8(Number(value) & 0xff);
  else if (value >= -128n) bigEndian(writer.u8(0xd0), value, 1);
  else if (value >= -32768n) bigEndian(writer.u8(0xd1), value, 2);
  else if (value >= -2147483648n) bigEndian(writer.u8(0xd2), value, 4);
  else bigEndian(writer.u8(0xd3), value, 8);
}

function writeFloat(writer: ByteWriter, value: number): void {
  const magnitude = Math.abs(value);
  const isFloat32 = magnitude >= MIN_NORMAL_FLOAT32 && magnitude <= MAX_FLOAT32;
  const buffer = new DataView(new ArrayBuffer(8));
  if (isFloat32) buffer.setFloat32(0, value);
  else buffer.setFloat64(0, value);
  writer.u8(isFloat32 ? 0xca : 0xcb).raw(new Uint8Array(buffer.buffer, 0, isFloat32 ? 4 : 8));
}
