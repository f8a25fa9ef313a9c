// Builds the kernarg segment: explicit arguments from the request, hidden arguments as the metadata's value kinds ask.
// Source: LLVM AMDGPUUsage, "Code Object V5 Kernel Argument Metadata", `.value_kind`.
import { WavesmithError } from '../../../base/index.ts';
import type { Dim3, KernelArgument } from '../../device.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../interpreter/operands.ts';
import type { SimKernel } from '../module.ts';
import type { SimDispatchRequest } from '../options.ts';

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
export function kernargBytes(kernel: SimKernel, request: SimDispatchRequest, hidden: HiddenValues): Uint8Array {
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
  for (const argument of kernel.arguments) {
    if (argument.valueKind === 'dynamic_shared_pointer') view.setUint32(argument.offset, kernel.ldsSize, true);
    else if (argument.valueKind.startsWith('hidden_')) putHidden(argument, view, hidden);
  }
  return bytes;
}

function putExplicit(
  kernel: SimKernel,
  args: NonNullable<SimDispatchRequest['args']>,
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

function putHidden(argument: KernelArgument, view: DataView, h: HiddenValues): void {
  const { valueKind: kind, offset } = argument;
  const d = dimension(kind);
  if (offset + argument.size > view.byteLength) {
    throw new WavesmithError('device/arguments', `Hidden argument ${kind} lies outside the kernarg segment.`);
  }
  if (kind.startsWith('hidden_block_count_')) view.setUint32(offset, Math.floor(h.workItems[d] / h.block[d]), true);
  else if (kind.startsWith('hidden_group_size_')) view.setUint16(offset, h.block[d], true);
  else if (kind.startsWith('hidden_remainder_')) view.setUint16(offset, h.workItems[d] % h.block[d], true);
  else if (kind === 'hidden_grid_dims') {
    view.setUint16(offset, h.workItems[2] > 1 ? 3 : h.workItems[1] > 1 ? 2 : 1, true);
  } else if (kind === 'hidden_dynamic_lds_size') view.setUint32(offset, h.dynamicLds, true);
  else if (kind === 'hidden_private_base') view.setUint32(offset, PRIVATE_APERTURE_HIGH, true);
  else if (kind === 'hidden_shared_base') view.setUint32(offset, SHARED_APERTURE_HIGH, true);
  else if (kind === 'hidden_queue_ptr') view.setBigUint64(offset, BigInt(h.queue), true);
  // Global offsets, printf, hostcall, heap, default queue and completion action stay zero: the sim has none of them.
}
