// One program: answers its messages and owns what it allocated, loaded and queued, until its socket closes.
import { ByteWriter, WavesmithError } from '../base/index.ts';
import { DeviceFault, type Fault } from '../device/index.ts';
import { AqlQueue } from './aql-queue.ts';
import {
  ErrorCode,
  type ErrorCodeValue,
  FaultKind,
  type FaultKindValue,
  type HelloReply,
  MemoryUse,
  MessageType,
  PROTOCOL_VERSION,
  putAddressReply,
  putErrorReply,
  putFaultEvent,
  putHandleReply,
  putHelloReply,
  readAddressRequest,
  readAdoptRequest,
  readAllocateRequest,
  readExecuteRequest,
  readHandleRequest,
  readHelloRequest,
  readMapRequest,
  readQueueRequest,
  readShareRequest,
} from './generated/messages.ts';
import type { PacketTimes } from './packet-times.ts';
import { encodeLoad, type Message } from './protocol.ts';
import type { DispatchPacket, RuntimeDevice, RuntimeModule } from './runtime-device.ts';
import type { SharedMemory } from './shared-memory.ts';
import { SubmitOrder } from './submit-order.ts';

/** What a session shares with the other programs of the device. */
export interface SessionHost {
  readonly device: RuntimeDevice;
  readonly memory: SharedMemory;
  readonly hello: HelloReply;
  dispatch(packet: DispatchPacket, signal: AbortSignal, waits: () => void): Promise<PacketTimes | undefined>;
  signalsChanged(): Promise<void>;
  /** A packet of a queue has completed: another one may come soon. */
  stayAwake(queue: AqlQueue): void;
  /** Something changed that a waiting queue may wait for. */
  announceChange(): void;
  /** One more session has the allocation at an address. */
  share(address: number): void;
  /** A session gives an allocation back; the last one frees it. */
  release(address: number): void;
  /** How a fault is told. */
  explain(error: unknown): unknown;
  /** A queue stopped; its program is told too. */
  faulted(text: string): void;
}

type Send = (type: number, id: bigint, payload: Uint8Array) => void;

const EMPTY = new Uint8Array(0);

export class Session {
  /** Process of the program, as it says. */
  pid = 0;
  private readonly host: SessionHost;
  private readonly send: Send;
  /** How often the program has each allocation: its own once, and one more for each time that it was shared. */
  private readonly allocations = new Map<number, number>();
  private readonly mappings = new Set<number>();
  private readonly modules = new Map<bigint, RuntimeModule>();
  /** Starts and sizes of ranges that kernels may have instructions in. */
  private readonly executable: (readonly [number, number])[] = [];
  private readonly queues = new Map<bigint, AqlQueue>();
  private readonly order = new SubmitOrder();
  private nextHandle = 1n;
  private greeted = false;

  constructor(host: SessionHost, send: Send) {
    this.host = host;
    this.send = send;
  }

  /** Answers one message. A message that no library of this version sends throws `runtime/bad-message`. */
  handle(message: Message): void {
    const { type, id } = message;
    if (type === MessageType.Doorbell) {
      this.queues.get(readHandleRequest(message.payload).handle)?.doorbell();
      return;
    }
    if (type === MessageType.Kick) {
      this.host.announceChange();
      return;
    }
    try {
      this.send(MessageType.Reply, id, this.answer(message));
    } catch (error) {
      if (!(error instanceof WavesmithError) || error.code === 'runtime/bad-message') throw error;
      this.sendError(
        id,
        errorCodeOf(error),
        error.hint === undefined ? error.message : `${error.message} ${error.hint}`,
      );
    }
  }

  /** Frees everything; resolves when nothing of the program runs any more. */
  async close(): Promise<void> {
    await Promise.all([...this.queues.values()].map((queue) => queue.finish()));
    this.queues.clear();
    for (const module of this.modules.values()) module.unload();
    this.modules.clear();
    for (const [address, size] of this.executable.splice(0)) this.host.device.allowExecution?.(address, size, false);
    for (const address of this.mappings) this.host.device.unmap(address);
    this.mappings.clear();
    for (const [address, times] of this.allocations) for (let n = 0; n < times; n++) this.host.release(address);
    this.allocations.clear();
  }

  private sendError(id: bigint, code: ErrorCodeValue, text: string): void {
    this.send(MessageType.Error, id, putErrorReply(new ByteWriter(), { code, text }).finish());
  }

  private answer({ type, payload }: Message): Uint8Array {
    if (!this.greeted && type !== MessageType.Hello) {
      throw new WavesmithError('runtime/bad-message', 'The first message must be a greeting.');
    }
    const { device } = this.host;
    switch (type) {
      case MessageType.Hello: {
        const { version, pid, window } = readHelloRequest(payload);
        if (version !== PROTOCOL_VERSION) {
          throw new WavesmithError('runtime/version', `The program speaks protocol version ${version}.`, {
            hint: 'Its runtime libraries are of another Wavesmith version; start it with `wavesmith exec`.',
          });
        }
        this.pid = pid;
        this.greeted = true;
        device.placeWindow?.(window);
        const reply = { ...this.host.hello, windowAddress: device.windowAddress };
        return putHelloReply(new ByteWriter(128), reply).finish();
      }
      case MessageType.Allocate: {
        const { size, alignment, address: wanted, use } = readAllocateRequest(payload);
        const address = device.allocate(size, alignment, wanted, use);
        this.allocations.set(address, 1);
        return addressReply(address);
      }
      case MessageType.Adopt: {
        const { address, size } = readAdoptRequest(payload);
        if (address === 0) throw badAddress(address, 'memory');
        this.allocations.set(device.allocate(size, 4096, address, MemoryUse.Host), 1);
        return addressReply(device.offsetOf(address, size) ?? 0);
      }
      case MessageType.Free:
      case MessageType.Disown: {
        const { address } = readAddressRequest(payload);
        const times = this.allocations.get(address);
        if (times === undefined) throw badAddress(address, 'allocation');
        if (times > 1) this.allocations.set(address, times - 1);
        else this.allocations.delete(address);
        this.host.release(address);
        return EMPTY;
      }
      case MessageType.Share: {
        const { address, size } = readShareRequest(payload);
        if (!device.beginsAt(address, size)) {
          throw new WavesmithError(
            'runtime/bad-address',
            `No allocation of ${size} bytes begins at 0x${address.toString(16)}.`,
          );
        }
        this.host.share(address);
        this.allocations.set(address, (this.allocations.get(address) ?? 0) + 1);
        return EMPTY;
      }
      case MessageType.Map: {
        const { address, size, source, access } = readMapRequest(payload);
        device.map(address, size, source, (access & 2n) !== 0n);
        this.mappings.add(address);
        return EMPTY;
      }
      case MessageType.Unmap: {
        const { address } = readAddressRequest(payload);
        if (!this.mappings.delete(address)) throw badAddress(address, 'mapping');
        device.unmap(address);
        return EMPTY;
      }
      case MessageType.Execute: {
        const { address, size, allowed } = readExecuteRequest(payload);
        device.allowExecution?.(address, size, allowed !== 0n);
        if (allowed !== 0n) this.executable.push([address, size]);
        return EMPTY;
      }
      case MessageType.Load: {
        const module = device.load(payload.slice(0, payload.length).slice());
        const handle = this.nextHandle++;
        this.modules.set(handle, module);
        return encodeLoad(handle, module.address, module.size, module.symbols);
      }
      case MessageType.Unload: {
        const { handle } = readHandleRequest(payload);
        const module = this.modules.get(handle);
        if (module === undefined) throw new WavesmithError('runtime/bad-handle', `There is no module ${handle}.`);
        this.modules.delete(handle);
        module.unload();
        return EMPTY;
      }
      case MessageType.QueueCreate:
        return putHandleReply(new ByteWriter(16), { handle: this.createQueue(payload) }).finish();
      case MessageType.QueueDestroy: {
        const { handle } = readHandleRequest(payload);
        const queue = this.queues.get(handle);
        if (queue === undefined) throw new WavesmithError('runtime/bad-handle', `There is no queue ${handle}.`);
        this.queues.delete(handle);
        void queue.destroy();
        return EMPTY;
      }
      default:
        throw new WavesmithError('runtime/bad-message', `Message type ${type} is unknown.`);
    }
  }

  private createQueue(payload: Message['payload']): bigint {
    const handle = this.nextHandle++;
    const queue: AqlQueue = new AqlQueue(
      {
        memory: this.host.memory,
        order: this.host.device.keepsOrder === true ? this.order : undefined,
        dispatch: (packet, signal, waits) => this.host.dispatch(packet, signal, waits),
        barrier: (packet) => this.host.device.barrier?.(packet),
        copied: (packet) => this.host.device.copied?.(packet),
        signalsChanged: () => this.host.signalsChanged(),
        changed: () => this.host.announceChange(),
        completed: () => {
          this.host.announceChange();
          this.host.stayAwake(queue);
        },
        failed: (error) => this.sendFault(handle, error),
      },
      readQueueRequest(payload),
    );
    this.queues.set(handle, queue);
    return handle;
  }

  /** Ends the program: a fault of no queue. */
  end(error: unknown): void {
    this.sendFault(0n, error);
  }

  private sendFault(queue: bigint, given: unknown): void {
    const error = this.host.explain(given);
    const text = error instanceof WavesmithError ? error.format() : String(error);
    const access = error instanceof DeviceFault ? error.fault.access : undefined;
    const address = access?.space === 'global' ? access.address : 0;
    const event = { queue, kind: faultKindOf(error), address, text };
    this.send(MessageType.Fault, 0n, putFaultEvent(new ByteWriter(), event).finish());
    this.host.faulted(text);
  }
}

function addressReply(address: number): Uint8Array {
  return putAddressReply(new ByteWriter(16), { address }).finish();
}

function badAddress(address: number, what: string): WavesmithError {
  return new WavesmithError('runtime/bad-address', `No ${what} of this program begins at 0x${address.toString(16)}.`);
}

const ERROR_CODES: Readonly<Record<string, ErrorCodeValue>> = {
  'device/out-of-memory': ErrorCode.OutOfMemory,
  'device/bad-size': ErrorCode.OutOfMemory,
  'device/bad-address': ErrorCode.BadAddress,
  'runtime/bad-address': ErrorCode.BadAddress,
  'device/wrong-target': ErrorCode.WrongTarget,
  'runtime/version': ErrorCode.Unsupported,
};

function errorCodeOf(error: WavesmithError): ErrorCodeValue {
  const known = ERROR_CODES[error.code];
  if (known !== undefined) return known;
  return /^(elf|codeobject|code-object|device\/(bad-image|bad-relocation|bad-metadata|not-linked))/.test(error.code)
    ? ErrorCode.BadCodeObject
    : ErrorCode.Unsupported;
}

const FAULT_KINDS: Readonly<Record<Fault['kind'], FaultKindValue>> = {
  memory: FaultKind.Memory,
  instruction: FaultKind.IllegalInstruction,
  trap: FaultKind.Trap,
  budget: FaultKind.Budget,
};

/** Packets that the device refuses. */
const REFUSALS: Readonly<Record<string, FaultKindValue>> = {
  'device/bad-grid': FaultKind.Dimensions,
  'device/bad-block': FaultKind.Workgroup,
  'device/lds-too-large': FaultKind.GroupMemory,
  'runtime/bad-kernel-object': FaultKind.CodeObject,
  'runtime/unsupported-packet': FaultKind.Packet,
};

function faultKindOf(error: unknown): FaultKindValue {
  if (error instanceof DeviceFault) return FAULT_KINDS[error.fault.kind];
  if (!(error instanceof WavesmithError)) return FaultKind.Other;
  return REFUSALS[error.code] ?? (error.code.startsWith('strict/') ? FaultKind.Strict : FaultKind.Other);
}
