// Wavesmith's side of the tools library (native/tool): programs connect, show their code objects and are told what to do with them.
// The library does not know whose runtime it is in, and neither does this file.
import { type ByteReader, ByteWriter, WavesmithError } from '../base/index.ts';
import { type CodeObject, readCodeObject } from '../codeobject/index.ts';
import type { Addon } from './addon.ts';
import { MessageType } from './generated/messages.ts';
import {
  IsolatedStatus,
  MemoryScope,
  type Patch,
  Phase,
  putCodePlan,
  putIsolationScope,
  putKernelRule,
  putPatch,
  putToolWelcome,
  RuleFlag,
  readAllocationRecord,
  readCodeHandle,
  readCodeObject as readCodeMessage,
  readDispatchRecord,
  readIsolatedDispatch,
  readIsolatedResult,
  readMemoryChunk,
  readNoteRecord,
  readReplacement,
  readToolHello,
  readWatchedChunk,
  TOOL_PROTOCOL_VERSION,
  TOOL_SOCKET_VARIABLE,
  ToolMessage,
} from './generated/tool-messages.ts';
import { type Connection, MessageServer, type Send } from './message-server.ts';
import type { Message } from './protocol.ts';
import {
  type IsolatedDispatch,
  type IsolationMemory,
  type LoadedCode,
  MemoryImage,
  memoryKindName,
  type PassedDispatch,
  readPacket,
  type StartingDispatch,
  type ToolAllocation,
  type ToolDispatch,
  type ToolNote,
  type ToolProgram,
} from './tool-records.ts';

/** What is to be done with one kernel of a loaded code object. */
export interface KernelPlan {
  readonly kernel: string;
  /** Tell of every dispatch, not only of the first of each shape. */
  readonly report?: boolean;
  /** Send memory around chosen dispatches. */
  readonly isolate?: boolean;
  /** Run the kernel of this name in the replacement. */
  readonly replacement?: string;
  /** With the two above: run the original first, on the same memory. */
  readonly compare?: boolean;
  /** Run the replacement in dispatches of the range only. */
  readonly choose?: boolean;
}

/** What is to be done with a loaded code object. */
export interface CodePlan {
  readonly kernels: readonly KernelPlan[];
  /** Another code object, loaded beside it. */
  readonly replacement?: {
    readonly object: CodeObject;
    readonly bytes: Uint8Array;
    /** References of the replacement to memory of the original. */
    readonly patches: readonly Patch[];
    /** Memory of the replacement whose content is wanted, by virtual address; zeros at first. */
    readonly watched?: { readonly address: number; readonly size: number };
  };
}

/** Which dispatches are isolated, or run a replacement, counted over all kernels of which some are to be, from 0. */
export interface DispatchRange {
  readonly first: bigint;
  /** Inclusive. */
  readonly last: bigint;
  readonly step: bigint;
}
export const EVERY_DISPATCH: DispatchRange = { first: 0n, last: 2n ** 64n - 1n, step: 1n };

/** Hears what programs do. All but `plan` may be left out. */
export interface ToolListener {
  /** Decides about a code object, while the program waits. */
  plan(code: LoadedCode): CodePlan;
  onProgram?(program: ToolProgram): void;
  onUnload?(code: LoadedCode): void;
  /** A replacement is in place, or `why` it is not. */
  onReplaced?(code: LoadedCode, why: string | undefined): void;
  /** Watched memory changed at an offset. */
  onWatched?(code: LoadedCode, offset: number, bytes: Uint8Array): void;
  /** Nothing more of the code object's watched memory will come; without it the program ended before it could tell. */
  onWatchedEnd?(code: LoadedCode): void;
  onDispatch?(dispatch: ToolDispatch): void;
  /** A chosen dispatch is about to run alone. Says whose memory is to come with it; without this function all. */
  onIsolating?(dispatch: StartingDispatch): IsolationMemory;
  onIsolated?(dispatch: IsolatedDispatch): void;
  /** A chosen dispatch ran with the others before it was told of. */
  onPassed?(dispatch: PassedDispatch): void;
  onNote?(note: ToolNote, program: ToolProgram): void;
  onEnd?(program: ToolProgram): void;
}

export interface ToolServerOptions {
  readonly range?: DispatchRange;
  /** Bytes of memory that would come with a dispatch above which it is not isolated. */
  readonly memoryLimit?: number;
  /** Milliseconds that the program and other dispatches wait for an isolated one before they go on (default 10 s). See `release`. */
  readonly patience?: number;
  /** One line for each refused or misbehaving peer. */
  readonly report: (text: string) => void;
}

/** Memory that is copied for every isolated dispatch must fit into this process twice. */
const MEMORY_LIMIT = 4 * 2 ** 30;
const PATIENCE_MS = 10_000;

export class ToolServer {
  private readonly server: MessageServer;
  private readonly programs = new Set<Send>();

  constructor(addon: Addon, listener: ToolListener, options: ToolServerOptions) {
    this.server = new MessageServer(
      addon,
      (send, pid) => {
        this.programs.add(send);
        const connection = new ToolConnection(send, pid, listener, options);
        return {
          handle: (message) => connection.handle(message),
          closed: () => {
            this.programs.delete(send);
            connection.closed();
          },
        };
      },
      options.report,
    );
  }

  /** What the device runs waits for a program, or for another dispatch: whoever waits for an isolated dispatch goes on. */
  release(): void {
    for (const send of this.programs) send(ToolMessage.Release, 0n, new Uint8Array());
  }

  listen(): Promise<void> {
    return this.server.listen();
  }
  /** Resolves when everything was heard that programs which have ended had sent. */
  settle(): Promise<void> {
    return this.server.settle();
  }
  /** Cuts off programs that still run. */
  close(): void {
    this.server.close();
  }

  /** Environment of a program that loads the library, over `base`; tools that the user has stay. */
  environment(base: NodeJS.ProcessEnv, library: string): NodeJS.ProcessEnv {
    const list = (own: string | undefined, separator: string): string =>
      own === undefined || own === '' ? library : `${own}${separator}${library}`;
    return {
      ...base,
      [TOOL_SOCKET_VARIABLE]: this.server.address,
      HSA_TOOLS_LIB: list(base.HSA_TOOLS_LIB, ' '),
      // Runtimes whose tables rocprofiler-sdk takes first find the library here.
      ROCP_TOOL_LIBRARIES: list(base.ROCP_TOOL_LIBRARIES, ':'),
    };
  }
}

/** A dispatch whose end was not told yet. */
interface OpenDispatch extends Omit<IsolatedDispatch, 'status' | 'nanoseconds'> {
  readonly notes: ToolNote[];
}

const SCOPES = {
  none: MemoryScope.None,
  reachable: MemoryScope.Reachable,
  all: MemoryScope.All,
} as const satisfies Record<IsolationMemory, number>;

const STATUS: Readonly<Record<number, IsolatedDispatch['status']>> = {
  [IsolatedStatus.Done]: 'done',
  [IsolatedStatus.OriginalFailed]: 'original-failed',
  [IsolatedStatus.Failed]: 'failed',
  [IsolatedStatus.NotIsolated]: 'not-isolated',
  [IsolatedStatus.NotAlone]: 'not-alone',
};

/** All ones: a note about no dispatch. */
const NO_DISPATCH = 2n ** 64n - 1n;

class ToolConnection implements Connection {
  private readonly send: Send;
  private readonly listener: ToolListener;
  private readonly options: ToolServerOptions;
  private readonly pid: number;
  private program: ToolProgram | undefined;
  private readonly codes = new Map<bigint, LoadedCode>();
  private readonly kernels = new Map<number, { readonly code: LoadedCode; readonly name: string }>();
  private open: OpenDispatch | undefined;
  /** The last about a dispatch that was not told of. */
  private lastNote: ToolNote | undefined;

  constructor(send: Send, pid: number, listener: ToolListener, options: ToolServerOptions) {
    this.send = send;
    this.pid = pid;
    this.listener = listener;
    this.options = options;
  }

  handle({ type, id, payload }: Message): void {
    if (type === ToolMessage.Hello) {
      this.send(MessageType.Reply, id, this.greet(payload));
      return;
    }
    const { program, listener } = this;
    if (program === undefined) throw new WavesmithError('runtime/bad-message', 'The first message must be a greeting.');
    switch (type) {
      case ToolMessage.CodeLoaded:
        this.send(MessageType.Reply, id, this.codeLoaded(program, payload));
        return;
      case ToolMessage.CodeUnloaded:
        this.codeUnloaded(readCodeHandle(payload).code);
        return;
      case ToolMessage.CodeReplaced: {
        const { code, status, why } = readReplacement(payload);
        const found = this.codes.get(code);
        if (found !== undefined) listener.onReplaced?.(found, status === 0 ? undefined : why);
        return;
      }
      case ToolMessage.Watched: {
        const { code, offset, bytes } = readWatchedChunk(payload);
        const found = this.codes.get(code);
        if (found !== undefined) listener.onWatched?.(found, offset, bytes);
        return;
      }
      case ToolMessage.WatchedEnd: {
        const found = this.codes.get(readCodeHandle(payload).code);
        if (found !== undefined) listener.onWatchedEnd?.(found);
        return;
      }
      case ToolMessage.Dispatch:
        this.dispatched(program, payload);
        return;
      case ToolMessage.IsolatedBegin:
        this.send(MessageType.Reply, id, this.begin(program, payload));
        return;
      case ToolMessage.Memory:
        this.memory(payload);
        return;
      case ToolMessage.IsolatedEnd: {
        this.end(program, payload);
        return;
      }
      case ToolMessage.Note: {
        const { sequence, code, text } = readNoteRecord(payload);
        const note = { sequence: sequence === NO_DISPATCH ? undefined : sequence, code, text };
        if (this.open?.sequence === sequence) this.open.notes.push(note);
        else this.lastNote = note;
        listener.onNote?.(note, program);
        return;
      }
      default:
        throw new WavesmithError('runtime/bad-message', `There is no message of type ${type}.`);
    }
  }

  closed(): void {
    const { open, program } = this;
    this.open = undefined;
    if (open !== undefined) this.listener.onIsolated?.({ ...open, status: 'incomplete', nanoseconds: 0 });
    if (program !== undefined) this.listener.onEnd?.(program);
  }

  private greet(payload: ByteReader): Uint8Array {
    const { version, program } = readToolHello(payload);
    if (version !== TOOL_PROTOCOL_VERSION) {
      throw new WavesmithError('runtime/bad-message', `The tools library speaks protocol version ${version}.`);
    }
    this.program = { pid: this.pid, path: program };
    this.listener.onProgram?.(this.program);
    const { range = EVERY_DISPATCH, memoryLimit = MEMORY_LIMIT, patience = PATIENCE_MS } = this.options;
    const limits = { limit: BigInt(memoryLimit), patience: BigInt(patience) };
    const welcome = { version: TOOL_PROTOCOL_VERSION, ...range, ...limits };
    return putToolWelcome(new ByteWriter(64), welcome).finish();
  }

  private codeLoaded(program: ToolProgram, payload: ByteReader): Uint8Array {
    const message = readCodeMessage(payload);
    const { code: handle, uri, loadBase, loadSize, delta } = message;
    const bytes = message.bytes.slice();
    let code: LoadedCode;
    try {
      code = { program, handle, uri, bytes, object: readCodeObject(bytes), loadBase, loadSize, delta };
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      const text = `A code object that was loaded (${uri}) cannot be read: ${error.message}`;
      this.listener.onNote?.({ sequence: undefined, code: 'code-not-read', text }, program);
      return encodePlan(undefined, { kernels: [] });
    }
    this.codes.set(handle, code);
    for (const { name, descriptorSymbol } of code.object.kernels) {
      if (descriptorSymbol !== undefined) this.kernels.set(delta + Number(descriptorSymbol.value), { code, name });
    }
    return encodePlan(code, this.listener.plan(code));
  }

  private codeUnloaded(handle: bigint): void {
    const code = this.codes.get(handle);
    if (code === undefined) return;
    this.codes.delete(handle);
    for (const [address, kernel] of this.kernels) if (kernel.code === code) this.kernels.delete(address);
    this.listener.onUnload?.(code);
  }

  private dispatched(program: ToolProgram, payload: ByteReader): void {
    const r = readDispatchRecord(payload);
    const kernel = this.kernels.get(r.kernelObject);
    this.listener.onDispatch?.({
      program,
      sequence: r.sequence,
      queue: r.queue,
      code: kernel?.code,
      kernel: kernel?.name,
      grid: [r.gridX, r.gridY, r.gridZ],
      block: [r.blockX, r.blockY, r.blockZ],
      privateSegment: r.privateSegment,
      groupSegment: r.groupSegment,
      isReplaced: r.replaced !== 0,
    });
  }

  private begin(program: ToolProgram, payload: ByteReader): Uint8Array {
    const {
      sequence,
      index,
      code: handle,
      queue,
      allocations: count,
      isCompared,
      packet,
      kernarg,
      end,
    } = readIsolatedDispatch(payload);
    const fields = readPacket(packet);
    const kernel = this.kernels.get(fields.kernelObject);
    const code = this.codes.get(handle);
    if (kernel === undefined || code === undefined) {
      throw new WavesmithError('runtime/bad-message', 'A dispatch was isolated whose kernel is not known.');
    }
    const allocations: ToolAllocation[] = [];
    let at = end;
    for (let n = 0; n < count; n++) {
      const { kind, end: next, ...rest } = readAllocationRecord(payload, at);
      allocations.push({ ...rest, kind: memoryKindName(kind) });
      at = next;
    }
    const before = new MemoryImage();
    this.open = {
      program,
      sequence,
      index,
      code,
      kernel: kernel.name,
      packet: packet.slice(),
      kernarg: kernarg.slice(),
      fields,
      queue,
      allocations,
      before,
      after: new MemoryImage(before),
      original: isCompared === 0 ? undefined : new MemoryImage(before),
      notes: [],
    };
    const scope = SCOPES[this.listener.onIsolating?.(this.open) ?? 'all'];
    return putIsolationScope(new ByteWriter(8), { scope }).finish();
  }

  private memory(payload: ByteReader): void {
    const { sequence, allocation, offset, phase, bytes } = readMemoryChunk(payload);
    const { open } = this;
    if (open === undefined || open.sequence !== sequence) {
      throw new WavesmithError('runtime/bad-message', 'Memory came outside an isolated dispatch.');
    }
    const image = phase === Phase.Before ? open.before : phase === Phase.After ? open.after : open.original;
    image?.put(allocation, offset, bytes);
  }

  private end(program: ToolProgram, payload: ByteReader): void {
    const { sequence, status, nanoseconds, kernelObject } = readIsolatedResult(payload);
    const { open, lastNote } = this;
    const known = STATUS[status];
    if (known === undefined) throw new WavesmithError('runtime/bad-message', 'A dispatch ended in an unknown way.');
    if (open?.sequence === sequence) {
      this.open = undefined;
      this.listener.onIsolated?.({ ...open, status: known, nanoseconds: Number(nanoseconds) });
      return;
    }
    const kernel = this.kernels.get(kernelObject)?.name ?? 'a kernel that was unloaded';
    const note = lastNote?.sequence === sequence ? lastNote : undefined;
    this.listener.onPassed?.({ program, sequence, kernel, note });
  }
}

/** The answer about a code object. A kernel that it lacks is left out. */
function encodePlan(code: LoadedCode | undefined, plan: CodePlan): Uint8Array {
  const { replacement } = plan;
  const rules = plan.kernels.flatMap((k) => {
    const own = code?.object.kernels.find(({ name }) => name === k.kernel);
    const other = replacement?.object.kernels.find(({ name }) => name === k.replacement);
    if (code === undefined || own?.descriptorSymbol === undefined || own.descriptor === undefined) return [];
    const isReplaced = other?.descriptorSymbol !== undefined && other.descriptor !== undefined;
    const flags =
      (k.report === true ? RuleFlag.Report : 0) |
      (k.isolate === true ? RuleFlag.Isolate : 0) |
      (isReplaced ? RuleFlag.Replace : 0) |
      (isReplaced && k.compare === true ? RuleFlag.Compare : 0) |
      (isReplaced && k.choose === true ? RuleFlag.Choose : 0);
    return [
      {
        kernelObject: code.delta + Number(own.descriptorSymbol.value),
        replacement: Number(other?.descriptorSymbol?.value ?? 0n),
        flags,
        privateSegment: other?.descriptor?.privateSegmentFixedSize ?? 0,
        groupSegment: own.descriptor.groupSegmentFixedSize,
        replacementGroup: other?.descriptor?.groupSegmentFixedSize ?? 0,
        kernargSize: own.descriptor.kernargSize,
      },
    ];
  });
  const patches = replacement?.patches ?? [];
  const bytes = replacement?.bytes ?? new Uint8Array();
  const w = new ByteWriter(bytes.byteLength + 64 * (1 + rules.length + patches.length));
  const { address: watched = 0, size: watchedSize = 0 } = replacement?.watched ?? {};
  putCodePlan(w, { kernels: rules.length, patches: patches.length, watched, watchedSize, code: bytes });
  for (const rule of rules) putKernelRule(w, rule);
  for (const patch of patches) putPatch(w, patch);
  return w.finish();
}
