// What the tools library tells of a program: code objects, dispatches, memory around chosen dispatches.
import type { CodeObject } from '../codeobject/index.ts';
import { CHUNK_BYTES, MemoryKind } from './generated/tool-messages.ts';

/** A process with the library in it. */
export interface ToolProgram {
  readonly pid: number;
  /** Path of the executable. */
  readonly path: string;
}

/** A code object that a program loaded. */
export interface LoadedCode {
  readonly program: ToolProgram;
  readonly handle: bigint;
  /** `memory://…` or `file://…`, as the runtime names it. */
  readonly uri: string;
  readonly bytes: Uint8Array;
  readonly object: CodeObject;
  readonly loadBase: number;
  readonly loadSize: number;
  /** Load address of virtual address 0. */
  readonly delta: number;
}

/** A dispatch that was submitted. */
export interface ToolDispatch {
  readonly program: ToolProgram;
  /** Among all dispatches of the process, from 0. */
  readonly sequence: bigint;
  readonly queue: bigint;
  /** Undefined when the code object was not seen. */
  readonly code: LoadedCode | undefined;
  /** Name of the kernel; undefined as `code`. */
  readonly kernel: string | undefined;
  /** Work-items. */
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  readonly privateSegment: number;
  readonly groupSegment: number;
  /** Whether the replacement ran. */
  readonly isReplaced: boolean;
}

const KIND_NAMES = {
  [MemoryKind.Coarse]: 'coarse',
  [MemoryKind.Fine]: 'fine',
  [MemoryKind.Host]: 'host',
  [MemoryKind.Kernarg]: 'kernarg',
  [MemoryKind.Locked]: 'locked',
  [MemoryKind.Virtual]: 'virtual',
  [MemoryKind.Module]: 'module',
} as const;

/** Name of a kind of memory. */
export type MemoryKindName = (typeof KIND_NAMES)[keyof typeof KIND_NAMES];

/** The name of a kind as the library sends it; an unknown number is `locked`, of which nothing is assumed. */
export function memoryKindName(kind: number): MemoryKindName {
  return (KIND_NAMES as Readonly<Record<number, MemoryKindName>>)[kind] ?? 'locked';
}

/** Memory that was live when a dispatch was isolated. */
export interface ToolAllocation {
  readonly id: bigint;
  readonly address: number;
  readonly size: number;
  readonly kind: MemoryKindName;
  /** HSA's flags of its memory pool: 1 kernarg, 2 fine grained, 4 coarse grained. */
  readonly flags: number;
  /** The call that made it. */
  readonly origin: string;
}

/** Something that could not be seen or was not done. */
export interface ToolNote {
  /** The dispatch it is about; undefined: the program. */
  readonly sequence: bigint | undefined;
  /** A word for programs: `ipc`, `too-much-memory`. */
  readonly code: string;
  readonly text: string;
}

/** Contents of memory by allocation and chunk. What is absent is as in `base`, or zero without one. */
export class MemoryImage {
  private readonly chunks = new Map<bigint, Map<number, Uint8Array>>();
  private readonly base: MemoryImage | undefined;

  constructor(base?: MemoryImage) {
    this.base = base;
  }

  put(allocation: bigint, offset: number, bytes: Uint8Array): void {
    let own = this.chunks.get(allocation);
    if (own === undefined) {
      own = new Map();
      this.chunks.set(allocation, own);
    }
    own.set(offset / CHUNK_BYTES, bytes);
  }

  /** Offsets of the chunks of an allocation that this image itself holds, ascending. */
  offsets(allocation: bigint): number[] {
    return [...(this.chunks.get(allocation)?.keys() ?? [])].sort((a, b) => a - b).map((n) => n * CHUNK_BYTES);
  }

  /** The chunk at an offset that is a multiple of `CHUNK_BYTES`; undefined when it is all zero. */
  chunk(allocation: bigint, offset: number): Uint8Array | undefined {
    return this.chunks.get(allocation)?.get(offset / CHUNK_BYTES) ?? this.base?.chunk(allocation, offset);
  }

  /** A copy of bytes of an allocation. */
  bytes(allocation: bigint, offset: number, size: number): Uint8Array {
    const result = new Uint8Array(size);
    for (let at = offset; at < offset + size; ) {
      const start = Math.floor(at / CHUNK_BYTES) * CHUNK_BYTES;
      const end = Math.min(start + CHUNK_BYTES, offset + size);
      const chunk = this.chunk(allocation, start);
      if (chunk !== undefined) result.set(chunk.subarray(at - start, end - start), at - offset);
      at = end;
    }
    return result;
  }
}

/** The fields of an AQL kernel dispatch packet. Source: HSA Runtime Specification 1.2, section 2.9.6. */
export interface PacketFields {
  readonly header: number;
  readonly setup: number;
  readonly block: readonly [number, number, number];
  /** Work-items. */
  readonly grid: readonly [number, number, number];
  readonly privateSegment: number;
  readonly groupSegment: number;
  readonly kernelObject: number;
  readonly kernarg: number;
  readonly completion: number;
}

/** Reads the 64 bytes of a packet. */
export function readPacket(bytes: Uint8Array): PacketFields {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const u16 = (at: number): number => view.getUint16(at, true);
  const u32 = (at: number): number => view.getUint32(at, true);
  const address = (at: number): number => Number(view.getBigUint64(at, true));
  return {
    header: u16(0),
    setup: u16(2),
    block: [u16(4), u16(6), u16(8)],
    grid: [u32(12), u32(16), u32(20)],
    privateSegment: u32(24),
    groupSegment: u32(28),
    kernelObject: address(32),
    kernarg: address(40),
    completion: address(56),
  };
}

/** A chosen dispatch before it runs, alone. */
export interface StartingDispatch {
  readonly program: ToolProgram;
  readonly sequence: bigint;
  /** Among the dispatches of kernels that were to be isolated, from 0. */
  readonly index: bigint;
  readonly code: LoadedCode;
  readonly kernel: string;
  /** As the program wrote it. */
  readonly packet: Uint8Array;
  /** The kernel's arguments. */
  readonly kernarg: Uint8Array;
  readonly fields: PacketFields;
  /** Address of its hsa_queue_t. */
  readonly queue: number;
  readonly allocations: readonly ToolAllocation[];
  /** So far; more may come while it runs. */
  readonly notes: readonly ToolNote[];
}

/** A chosen dispatch that ran alone, with memory around it. */
export interface IsolatedDispatch extends StartingDispatch {
  /** Memory before the dispatch; of a compared one only what either run changed. */
  readonly before: MemoryImage;
  readonly after: MemoryImage;
  /** After the original, when the dispatch was compared. */
  readonly original: MemoryImage | undefined;
  /**
   * `not-alone`: it waited, and the program and other dispatches were let go on before it ended. `not-isolated`: it ran with the others after it had been
   * told of, and `notes` say why. `incomplete`: the program ended before the end was told.
   */
  readonly status: 'done' | 'not-alone' | 'original-failed' | 'failed' | 'not-isolated' | 'incomplete';
  /** Of the dispatch, by the runtime's clock; 0 when not known. */
  readonly nanoseconds: number;
}

/**
 * Whose contents come with an isolated dispatch: of nothing, because whoever runs it records what it touches; of what pointers lead to from
 * its arguments and its code object; of all live memory.
 */
export type IsolationMemory = 'none' | 'reachable' | 'all';

/** A chosen dispatch that ran with the others: nothing of it was kept. */
export interface PassedDispatch {
  readonly program: ToolProgram;
  readonly sequence: bigint;
  readonly kernel: string;
  /** Why. */
  readonly note: ToolNote | undefined;
}
