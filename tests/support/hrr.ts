// Archives of AMD's HIP Record & Replay for tests: the calls of a program, written as AMD's writer does.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Numbers of calls in HIP's dispatch table. */
export const CALL = {
  malloc: 215,
  free: 90,
  hostMalloc: 197,
  copy: 259,
  copyFromDevice: 272,
  fill: 288,
  launch: 308,
  graphLaunch: 166,
  streamCreate: 334,
} as const;

export class HrrWriter {
  private readonly records: Uint8Array[] = [];
  readonly blobs = new Map<string, Uint8Array>();
  readonly code = new Map<string, Uint8Array>();
  private sequence = 0;

  /** A name of the form that hashes have, of content that the archive does not have. */
  static hash(n: number): string {
    return n.toString(16).padStart(32, '0');
  }

  /** The name that AMD's writer gives some content: two sums side by side. */
  static nameOf(bytes: Uint8Array): string {
    const [prime, basis] = [0x100000001b3n, 0xcbf29ce484222325n];
    let [a, b] = [basis, prime];
    for (const byte of bytes) {
      a = BigInt.asUintN(64, (a ^ BigInt(byte)) * prime);
      b = BigInt.asUintN(64, (b ^ BigInt(byte)) * basis);
    }
    return [a, b].map((half) => half.toString(16).padStart(16, '0')).join('');
  }

  /** Keeps a blob; gives its name. */
  keep(bytes: Uint8Array): string {
    const name = HrrWriter.nameOf(bytes);
    this.blobs.set(name, bytes);
    return name;
  }

  record(id: number, ...parts: readonly (readonly [8 | 4 | 2 | 1, number | bigint] | Uint8Array)[]): this {
    const bytes = parts.flatMap((part) => {
      if (part instanceof Uint8Array) return [...part];
      const buffer = new DataView(new ArrayBuffer(8));
      buffer.setBigUint64(0, BigInt.asUintN(64, BigInt(part[1])), true);
      return [...new Uint8Array(buffer.buffer, 0, part[0])];
    });
    const header = new DataView(new ArrayBuffer(32));
    header.setUint16(0, id, true);
    header.setBigUint64(2, BigInt(this.sequence++), true);
    header.setUint32(26, 32 + bytes.length, true);
    this.records.push(Uint8Array.from([...new Uint8Array(header.buffer), ...bytes]));
    return this;
  }

  private static halves(hash: string): readonly (readonly [8, bigint])[] {
    return [hash.slice(0, 16), hash.slice(16)].map((half) => [8, BigInt(`0x${half}`)] as const);
  }

  allocate(address: number, bytes: number, id: number = CALL.malloc): this {
    return this.record(id, [4, 0], [8, address], [8, bytes]);
  }
  copy(to: number, from: number, bytes: number, blob = HrrWriter.hash(0)): this {
    return this.record(CALL.copy, [4, 0], [8, to], [8, from], [8, bytes], [4, 1], ...HrrWriter.halves(blob));
  }
  copyFromDevice(from: number, bytes: number, blob: string): this {
    return this.record(CALL.copyFromDevice, [4, 0], [8, 0x1234], [8, from], [8, bytes], ...HrrWriter.halves(blob));
  }
  fill(to: number, value: number, bytes: number): this {
    return this.record(CALL.fill, [4, 0], [8, to], [4, value], [8, bytes]);
  }
  launch(kernel: string, code: string, grid: number, block: number, args: readonly Uint8Array[]): this {
    const name = new TextEncoder().encode(kernel);
    return this.record(
      CALL.launch,
      [8, 0],
      [2, name.length],
      name,
      ...HrrWriter.halves(code),
      ...[grid, 1, 1, block, 1, 1, 0].map((n) => [4, n] as const),
      [2, args.length],
      [2, 0],
      ...args.flatMap((bytes) => [[1, bytes.length === 8 ? 1 : 0] as const, [2, bytes.length] as const, bytes]),
    );
  }

  /** `events.bin`. */
  log({ version = 8, end = true }: { version?: number; end?: boolean } = {}): Uint8Array {
    const header = new DataView(new ArrayBuffer(8));
    header.setUint32(0, 0x52524845, true);
    header.setUint16(4, version, true);
    const count = this.records.length;
    const last = end ? new HrrWriter().record(0xffff, [8, count], [4, 0x464f4548]).records : [];
    return Uint8Array.from([new Uint8Array(header.buffer), ...this.records, ...last].flatMap((r) => [...r]));
  }

  /** Writes the archive of one process. */
  write(folder: string, options: { version?: number; end?: boolean } = {}): void {
    mkdirSync(join(folder, 'pid-7', 'code_objects'), { recursive: true });
    writeFileSync(join(folder, 'pid-7', 'events.bin'), this.log(options));
    for (const [hash, bytes] of this.blobs) {
      const inner = join(folder, 'pid-7', 'blobs', hash.slice(0, 2));
      mkdirSync(inner, { recursive: true });
      writeFileSync(join(inner, `${hash}.blob`), bytes);
    }
    for (const [hash, bytes] of this.code) writeFileSync(join(folder, 'pid-7', 'code_objects', `${hash}.hsaco`), bytes);
  }
}
