// The debugger for the kernels of a program: each dispatch has one of its own, all are led by one leader and have the same breakpoints.
import { WavesmithError } from '../base/index.ts';
import { readCodeObject } from '../codeobject/index.ts';
import type { ArgumentValue } from '../device/index.ts';
import { explicitArguments } from '../device/kernargs.ts';
import {
  type BreakpointRequest,
  type Debugger,
  type DebugLeader,
  type LaterBreakpoint,
  type PlaceNames,
  placesOf,
  type Resume,
  type Stop,
} from '../device/sim/debug/index.ts';
import type { Monitor } from '../device/sim/dispatch/monitor.ts';
import type { SimKernel, SimModule } from '../device/sim/module.ts';
import type { DeviceMemory } from '../device/sim/state/memory.ts';
import { RunTools } from '../device/sim/tools/session.ts';
import { sourceName } from '../device/sim/tools/symbols.ts';
import type { DispatchPacket } from './runtime-device.ts';

export interface ProgramDebuggingOptions {
  readonly leader: DebugLeader;
  /** Where to stop, in kernels whose code has the place; nothing else is debugged, unless the leader stops at entries. */
  readonly breakpoints: readonly string[];
  /** The only kernels that are debugged, by name. */
  readonly kernel?: string | undefined;
  /** The leader sets its breakpoints in each dispatch itself; else they stay as they were left. */
  readonly setsBreakpoints?: boolean | undefined;
  /** A dispatch begins that may stop: its number among all and its kernel. */
  readonly onDispatch?: ((sequence: number, kernel: SimKernel, packet: DispatchPacket) => void) | undefined;
  /** The user ends the program. */
  readonly onQuit: () => void;
}

/** Breakpoints as they were left, by module: the next dispatch of its code begins with them. */
interface Kept {
  readonly requests: readonly (BreakpointRequest & { readonly isEnabled: boolean })[];
  /** Which of the wanted places are among them, or were before the user removed them: text and addresses. */
  readonly made: Set<string>;
}

/** A place that code which is loaded may have, and code that is loaded later. */
type WantedPlace = LaterBreakpoint & { isFound: boolean };

/** Debugs the dispatches of one program. */
export class ProgramDebugging {
  private readonly options: ProgramDebuggingOptions;
  private readonly kept = new WeakMap<SimModule, Kept>();
  /** Addresses of places in a kernel's code, by their text; null where it has none. */
  private readonly resolved = new WeakMap<SimKernel, Map<string, readonly number[] | null>>();
  private wanted: WantedPlace[];
  private last: { readonly led: Debugger; readonly module: SimModule } | undefined;
  private sequence = 0;

  constructor(options: ProgramDebuggingOptions) {
    this.options = options;
    this.wanted = options.breakpoints.map((text, i) => ({ id: i + 1, text, isFound: false }));
  }

  /** The places that no code of the program had. */
  get unknownPlaces(): readonly string[] {
    return this.wanted.filter(({ isFound }) => !isFound).map(({ text }) => text);
  }

  /** Whether execution is never stopped again. */
  private get isOver(): boolean {
    return this.last?.led.isOver === true;
  }

  /** The monitor of a dispatch, or undefined when it cannot stop. For SimRuntimeOptions.observe. */
  readonly observe = (
    kernel: SimKernel,
    packet: DispatchPacket,
    codeObject: Uint8Array,
    memory: DeviceMemory,
  ): Monitor | undefined => {
    this.sequence++;
    this.keep();
    const { leader, onDispatch } = this.options;
    if (
      this.isOver ||
      (this.options.kernel !== undefined && ![kernel.name, sourceName(kernel.name)].includes(this.options.kernel))
    )
      return undefined;
    const kept = this.kept.get(kernel.module);
    const isSetAgain = this.options.setsBreakpoints === true;
    const made = new Set(isSetAgain ? [] : kept?.made);
    const fresh = this.placesIn(kernel, codeObject).filter(({ key }) => !made.has(key));
    for (const { key } of fresh) made.add(key);
    if (fresh.length === 0 && (kept?.requests.length ?? 0) === 0 && !leader.stopsAtEntry) return undefined;
    const front = {
      stopped: (stop: Stop) => this.stopped(stop),
      logged: (text: string) => leader.logged(text),
      stopsAtEntry: leader.stopsAtEntry,
      get stopsAtEnd() {
        return leader.stopsAtEnd;
      },
      later: isSetAgain ? undefined : (one: LaterBreakpoint) => void this.wanted.push({ ...one, isFound: false }),
      waiting: isSetAgain ? undefined : () => this.wanted.filter(({ isFound }) => !isFound),
      forget: isSetAgain ? undefined : (id?: number) => this.forget(id),
    };
    const tools = new RunTools(kernel, readCodeObject(codeObject), { debug: { front, breakpoints: [] } });
    const led = tools.debugger as Debugger;
    for (const { isEnabled, ...request } of kept?.requests ?? []) led.breakpoints.add(request).isEnabled = isEnabled;
    for (const { id, places, text: meant, condition, isTemporary } of fresh) {
      led.breakpoints.add({ id, places, meant, condition, isTemporary });
    }
    if (!isSetAgain) for (const { id } of this.wanted) led.breakpoints.reserve(id);
    tools.setArguments(argumentsOf(kernel, packet, memory));
    this.kept.set(kernel.module, { requests: kept?.requests ?? [], made });
    this.last = { led, module: kernel.module };
    leader.lead(led);
    onDispatch?.(this.sequence, kernel, packet);
    return led;
  };

  /** Removes one place that no code has had, or all of them. */
  private forget(id: number | undefined): boolean {
    const left = this.wanted.filter((one) => one.isFound || (id !== undefined && one.id !== id));
    const isAny = left.length < this.wanted.length;
    this.wanted = left;
    return isAny;
  }

  private async stopped(stop: Stop): Promise<Resume> {
    const next = await this.options.leader.stopped(stop);
    if (next.kind === 'quit') this.options.onQuit();
    return next;
  }

  /** Breakpoints as the last dispatch left them. */
  private keep(): void {
    if (this.last === undefined || this.options.setsBreakpoints === true) return;
    const { led, module } = this.last;
    const requests = led.breakpoints.breakpoints.map(
      ({ id, places, meant, condition, wave, isTemporary, log, commands, isEnabled, ignoring }) => ({
        ...{ id, places, meant, condition, wave, isTemporary, log, commands, isEnabled },
        ignore: ignoring,
      }),
    );
    this.kept.set(module, { requests, made: this.kept.get(module)?.made ?? new Set() });
  }

  /** The wanted places that a kernel's code has. */
  private placesIn(
    kernel: SimKernel,
    codeObject: Uint8Array,
  ): (LaterBreakpoint & { readonly places: readonly number[]; readonly key: string })[] {
    const known = this.resolved.get(kernel) ?? new Map<string, readonly number[] | null>();
    this.resolved.set(kernel, known);
    let names: PlaceNames | undefined;
    return this.wanted.flatMap((one) => {
      let places = known.get(one.text);
      if (places === undefined) {
        names ??= (
          new RunTools(kernel, readCodeObject(codeObject), { debug: { front: NOBODY, breakpoints: [] } })
            .debugger as Debugger
        ).options;
        places = placesIfAny(names, one.text);
        known.set(one.text, places);
      }
      if (places === null) return [];
      one.isFound = true;
      return [{ ...one, places, key: `${one.text} ${places.join(' ')}` }];
    });
  }
}

function placesIfAny(names: PlaceNames, text: string): readonly number[] | null {
  try {
    return placesOf(names, text);
  } catch (error) {
    if (error instanceof WavesmithError && error.code === 'run/no-such-place') return null;
    throw error;
  }
}

/** Leads nothing: places are only looked up. */
const NOBODY = {
  stopped: (): Promise<Resume> => Promise.resolve({ kind: 'detach' }),
  logged: (): void => undefined,
  stopsAtEntry: false,
  stopsAtEnd: false,
};

/** The arguments in a packet's kernarg segment; a pointer into an allocation is the rest of it. */
function argumentsOf(kernel: SimKernel, { kernargAddress }: DispatchPacket, memory: DeviceMemory): ArgumentValue[] {
  const segment = kernel.kernargSize === 0 ? undefined : memory.find(kernargAddress, kernel.kernargSize);
  return explicitArguments(kernel).map(({ name, offset, size, valueKind }): ArgumentValue => {
    if (segment === undefined) return new Uint8Array(size);
    const at = segment.offset + kernargAddress - segment.base + offset;
    const bytes = memory.bytesAt(at, size).slice();
    if (valueKind !== 'global_buffer' || size !== 8) return bytes;
    const address = Number(new DataView(bytes.buffer).getBigUint64(0, true));
    const allocation = memory.allocationAt(address);
    if (allocation === undefined) return bytes;
    return { address, size: allocation.base + allocation.size - address, label: name ?? '' };
  });
}
