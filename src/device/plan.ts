// One launch as plain data, and the one function that carries it out. Whoever launches kernels with memory of their own (`wavesmith run`,
// IREE's recorded dispatches, rocMLIR modules) makes a plan; the same plan runs any version of a kernel on any device.
import type {
  ArgumentValue,
  Device,
  DeviceAddress,
  DeviceBuffer,
  DeviceKernel,
  Dim3,
  DispatchRequest,
  DispatchResult,
} from './device.ts';

/** Memory that a launch needs: one allocation of the device, so that accesses beyond it are seen. */
export interface PlannedAllocation {
  /** Shown in faults and reports. */
  readonly label: string;
  /** Its content before the launch; its size. */
  readonly bytes: Uint8Array;
  /** Parts of it that are left as the device gives them (zeros), so that a strict device knows that nobody wrote them. Sorted. */
  readonly untouched?: readonly { readonly offset: number; readonly bytes: number }[] | undefined;
}

/** An explicit argument of the kernel: the address of a place in an allocation, or a value. */
export type PlannedArgument =
  | {
      readonly kind: 'binding';
      /** Index in the plan's allocations. */
      readonly allocation: number;
      /** Bytes from the allocation's start. */
      readonly offset: number;
    }
  | { readonly kind: 'value'; readonly value: Uint8Array | number | bigint };

/** Everything about a launch but the code and the device. */
export interface LaunchPlan {
  /** Grid in WORKGROUPS per dimension. */
  readonly grid: Dim3;
  /** Work-items per workgroup. */
  readonly block: Dim3;
  /** Work-items in the grid when it is not a multiple of `block`. */
  readonly gridWorkItems?: Dim3 | undefined;
  /** LDS bytes beyond the kernel's static size. */
  readonly dynamicLds?: number | undefined;
  readonly allocations: readonly PlannedAllocation[];
  /** The explicit arguments in order. */
  readonly arguments: readonly PlannedArgument[];
}

/** What a plan determines of a dispatch; everything else (limits, observers, engines) is asked for beside it. */
type Planned = 'kernel' | 'grid' | 'block' | 'gridWorkItems' | 'dynamicLds' | 'args' | 'kernargs';

/** Fields of a dispatch on a device that no plan determines. */
export type DispatchFields<D extends Device = Device> = Omit<Parameters<D['dispatch']>[0], Planned>;

/** The result of a dispatch on a device. */
export type ResultOf<D extends Device> = Awaited<ReturnType<D['dispatch']>>;

export interface ExecuteOptions<D extends Device = Device> {
  /** More fields of the dispatch. */
  readonly fields?: DispatchFields<D> | undefined;
  /** Gets the arguments once the allocations are in device memory, before the kernel runs. */
  readonly onPlaced?: ((args: readonly ArgumentValue[]) => void) | undefined;
  /** Gets the allocations as a failed dispatch leaves them, before the failure is passed on. */
  readonly onFailure?: ((contents: readonly Uint8Array[]) => void) | undefined;
}

/** A launch that completed. */
export interface Execution<R extends DispatchResult = DispatchResult> {
  readonly dispatch: R;
  /** Every allocation afterwards, all of its bytes, in the plan's order. */
  readonly contents: readonly Uint8Array[];
  /** Wall time of the dispatch on the host, without copies. */
  readonly seconds: number;
}

/** A plan's allocations on a device, to be dispatched any number of times. */
export interface PlacedPlan {
  /** In the plan's order. */
  readonly buffers: readonly DeviceBuffer[];
  readonly request: Omit<DispatchRequest, 'kernel'>;
  /** Writes the plan's bytes into the buffers. */
  restore(): void;
  /** Frees the buffers. */
  free(): void;
}

/** Allocates what a plan asks for; `restore` fills it. When an allocation fails nothing stays allocated. */
export function placePlan(device: Device, plan: LaunchPlan): PlacedPlan {
  const buffers: DeviceBuffer[] = [];
  const free = (): void => {
    for (const buffer of buffers) device.free(buffer);
  };
  try {
    for (const { label, bytes } of plan.allocations) buffers.push(device.alloc(bytes.length, label));
  } catch (error) {
    free();
    throw error;
  }
  const args = plan.arguments.map((argument): ArgumentValue => {
    if (argument.kind === 'value') return argument.value;
    const { address, size, label } = buffers[argument.allocation] as DeviceBuffer;
    const { offset } = argument;
    return { address: (address + offset) as DeviceAddress, size: size - offset, label };
  });
  const { grid, block, gridWorkItems, dynamicLds } = plan;
  return {
    buffers,
    request: { grid, block, gridWorkItems, dynamicLds, args },
    restore: () => {
      plan.allocations.forEach(({ bytes, untouched = [] }, n) => {
        let from = 0;
        for (const part of [...untouched, { offset: bytes.length, bytes: 0 }]) {
          if (part.offset > from) device.write(buffers[n] as DeviceBuffer, bytes.subarray(from, part.offset), from);
          from = part.offset + part.bytes;
        }
      });
    },
    free,
  };
}

/**
 * Allocates and fills what a plan asks for, runs a loaded kernel on it, reads every allocation back, frees them. The device is as before
 * afterwards, also when the launch fails. Failures are the device's.
 */
export async function execute<D extends Device>(
  device: D,
  kernel: DeviceKernel,
  plan: LaunchPlan,
  options: ExecuteOptions<D> = {},
): Promise<Execution<ResultOf<D>>> {
  const placed = placePlan(device, plan);
  try {
    placed.restore();
    options.onPlaced?.(placed.request.args ?? []);
    const request: DispatchRequest = { ...options.fields, ...placed.request, kernel };
    const contents = (): Uint8Array[] => placed.buffers.map((buffer) => device.read(buffer));
    const started = performance.now();
    try {
      const dispatch = (await device.dispatch(request)) as ResultOf<D>;
      const seconds = (performance.now() - started) / 1000;
      return { dispatch, contents: contents(), seconds };
    } catch (error) {
      options.onFailure?.(contents());
      throw error;
    }
  } finally {
    placed.free();
  }
}
