// Builds the kernarg segment: explicit arguments from the request, hidden arguments as the metadata's value kinds ask.
// Source: LLVM AMDGPUUsage, "Code Object V5 Kernel Argument Metadata", `.value_kind`.
import { WavesmithError } from '../base/index.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from './apertures.ts';
import type { DeviceKernel, Dim3, DispatchRequest, KernelArgument } from './device.ts';
import { bytesHint, isBuffer, valueText } from './values.ts';

export interface HiddenValues {
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly workItems: Dim3;
  readonly dynamicLds: number;
  readonly queue: number;
}

/** Arguments a caller passes: everything that is neither hidden nor filled in by the device. */
export function explicitArguments(kernel: { readonly arguments: readonly KernelArgument[] }): KernelArgument[] {
  return kernel.arguments.filter((a) => !a.valueKind.startsWith('hidden_') && a.valueKind !== 'dynamic_shared_pointer');
}

/** The bytes of the kernarg segment. */
export function kernargBytes(kernel: DeviceKernel, request: DispatchRequest, hidden: HiddenValues): Uint8Array {
  const bytes = new Uint8Array(kernel.kernargSize);
  const view = new DataView(bytes.buffer);
  const { args, kernargs } = request;
  if (kernargs !== undefined && args !== undefined) {
    throw new WavesmithError('device/arguments', 'A dispatch takes arguments or kernarg bytes, not both.');
  }
  if (kernargs !== undefined) {
    if (kernargs.length > bytes.length) {
      throw new WavesmithError(
        'device/arguments',
        `${kernargs.length} kernarg bytes were given; kernel '${kernel.name}' has a segment of ${bytes.length}.`,
      );
    }
    bytes.set(kernargs);
  } else putExplicit(kernel, args ?? [], bytes, view);
  for (const { valueKind, offset } of kernel.arguments) {
    const size = writtenBytes(valueKind);
    if (size === 0) continue;
    const value = hiddenValue(valueKind, kernel.ldsSize, hidden);
    if (size === 2) view.setUint16(offset, value, true);
    else if (size === 4) view.setUint32(offset, value, true);
    else view.setBigUint64(offset, BigInt(value), true);
  }
  return bytes;
}

function putExplicit(
  kernel: DeviceKernel,
  args: NonNullable<DispatchRequest['args']>,
  bytes: Uint8Array,
  view: DataView,
): void {
  const expected = explicitArguments(kernel);
  if (args.length !== expected.length) {
    const names = expected.map((a) => `${a.name ?? '?'} (${a.valueKind}, ${a.size} bytes)`).join(', ');
    throw new WavesmithError(
      'device/arguments',
      `Kernel '${kernel.name}' takes ${expected.length} arguments, ${args.length} were given.`,
      { hint: expected.length === 0 ? undefined : `In order: ${names}.` },
    );
  }
  args.forEach((value, i) => {
    const argument = expected[i] as KernelArgument;
    const label = `argument ${i}${argument.name === undefined ? '' : ` (${argument.name})`} of kernel '${kernel.name}'`;
    if (value instanceof Uint8Array) {
      if (value.length !== argument.size) {
        throw new WavesmithError(
          'device/arguments',
          `${value.length} bytes were given for ${label}, which has ${argument.size}.`,
        );
      }
      bytes.set(value, argument.offset);
      return;
    }
    if (typeof value === 'number' || typeof value === 'bigint') {
      putInteger(view, argument, value, label);
      return;
    }
    if (!isBuffer(value)) {
      throw new WavesmithError('device/arguments', `For ${label} ${valueText(value)} was given.`, {
        hint:
          bytesHint(value) ??
          'Give a buffer of device.alloc, a Uint8Array with the bytes of a value, or a whole number.',
      });
    }
    if (argument.size !== 8) {
      throw new WavesmithError(
        'device/arguments',
        `A buffer was given for ${label}, which is ${argument.size} bytes by value.`,
      );
    }
    view.setBigUint64(argument.offset, BigInt(value.address), true);
  });
}

/** Puts a whole number that fits the argument, signed or unsigned. */
function putInteger(
  view: DataView,
  { offset, size, valueKind }: KernelArgument,
  value: number | bigint,
  label: string,
) {
  if (valueKind !== 'by_value' || ![1, 2, 4, 8].includes(size)) {
    throw new WavesmithError(
      'device/arguments',
      `A number was given for ${label}, which is ${size} bytes of ${valueKind}.`,
      {
        hint: 'Give a buffer for a pointer, and bytes for a structure.',
      },
    );
  }
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new WavesmithError('device/arguments', `${value} was given for ${label}; a number is stored as an integer.`, {
      hint: "Give a float as bytes: scalar('f32', value).",
    });
  }
  const bits = 8 * size;
  const whole = BigInt(value);
  if (whole !== BigInt.asIntN(bits, whole) && whole !== BigInt.asUintN(bits, whole)) {
    throw new WavesmithError('device/arguments', `${value} was given for ${label}, which has ${bits} bits.`);
  }
  for (let n = 0; n < size; n++) view.setUint8(offset + n, Number((whole >> BigInt(8 * n)) & 0xffn));
}

/** Index of the dimension a `…_x`, `…_y`, `…_z` kind names. */
const dimension = (kind: string): 0 | 1 | 2 => (kind.endsWith('_x') ? 0 : kind.endsWith('_y') ? 1 : 2);

/** Bytes that the device writes for an argument of a kind; 0 for kinds that stay as they are. */
export function writtenBytes(kind: string): 0 | 2 | 4 | 8 {
  if (/^hidden_block_count_[xyz]$/.test(kind)) return 4;
  if (/^hidden_(group_size|remainder)_[xyz]$/.test(kind) || kind === 'hidden_grid_dims') return 2;
  if (/^hidden_(dynamic_lds_size|private_base|shared_base)$/.test(kind) || kind === 'dynamic_shared_pointer') return 4;
  return kind === 'hidden_queue_ptr' ? 8 : 0;
}

/** Global offsets, printf, hostcall, heap, default queue and completion action stay zero: no device here has them. */
function hiddenValue(kind: string, ldsSize: number, h: HiddenValues): number {
  const d = dimension(kind);
  if (kind === 'dynamic_shared_pointer') return ldsSize;
  if (kind.startsWith('hidden_block_count_')) return Math.floor(h.workItems[d] / h.block[d]);
  if (kind.startsWith('hidden_group_size_')) return h.block[d];
  if (kind.startsWith('hidden_remainder_')) return h.workItems[d] % h.block[d];
  if (kind === 'hidden_grid_dims') return h.workItems[2] > 1 ? 3 : h.workItems[1] > 1 ? 2 : 1;
  if (kind === 'hidden_dynamic_lds_size') return h.dynamicLds;
  if (kind === 'hidden_private_base') return PRIVATE_APERTURE_HIGH;
  return kind === 'hidden_shared_base' ? SHARED_APERTURE_HIGH : h.queue;
}
