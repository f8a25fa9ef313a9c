// What the host program does, as something that rocMLIR's caller can launch: kernels one after the other, with pointers into the
// function's arguments and results and into one scratch buffer. One kernel that takes all arguments in order is the simplest.
import { WavesmithError } from '../base/index.ts';
import type { BindingRange, BufferSource, Command, HostProgram } from './host-program.ts';

/** One argument of a launch. */
export type StepArgument =
  /** Pointer into argument or result `position` of the function. */
  | { readonly kind: 'buffer'; readonly position: number; readonly offset: number }
  /** Pointer into the scratch buffer. */
  | { readonly kind: 'scratch'; readonly offset: number }
  /** A 32-bit value. */
  | { readonly kind: 'constant'; readonly value: number };

/** One launch. */
export interface LaunchStep {
  readonly kernel: string;
  readonly workgroupSizes: readonly number[];
  readonly workgroupCount: readonly number[];
  /** Bytes of LDS that the launch adds. */
  readonly workgroupMemory: number;
  /** Undefined: the function's arguments and results, in order. */
  readonly arguments: readonly StepArgument[] | undefined;
}

/** Launches in order; each sees what the ones before it wrote. */
export interface LaunchSequence {
  /** Bytes of scratch, 0 without any. */
  readonly scratchBytes: number;
  readonly steps: readonly LaunchStep[];
}

/** What must be known of a kernel to launch it. */
export interface StepKernel {
  readonly name: string;
  readonly workgroupSizes: readonly number[];
  readonly bindings: readonly { readonly readOnly: boolean }[];
}

/** Buffers of the scratch begin at multiples of this. */
const ALIGNMENT = 256;

const cannot = (code: string, message: string, hint?: string): WavesmithError =>
  new WavesmithError(`rocmlir/${code}`, message, { hint });

interface Place {
  readonly kind: 'buffer' | 'scratch';
  /** Position of a buffer, or -1. */
  readonly position: number;
  readonly offset: number;
}

/** Makes the sequence of a host program. Throws `rocmlir/…` for what no sequence of launches can do. */
export function sequenceOf(host: HostProgram, kernels: readonly StepKernel[]): LaunchSequence {
  const scratch = new Map<string, number>();
  let scratchBytes = 0;
  for (const slot of host.slots) {
    if (slot.kind !== 'scratch' || scratch.has(slot.name)) continue;
    if (slot.bytes === null) {
      throw cannot(
        'scratch-size',
        'The size of an intermediate result is known at run time only.',
        'Give static shapes.',
      );
    }
    scratch.set(slot.name, scratchBytes);
    scratchBytes += Math.ceil(slot.bytes / ALIGNMENT) * ALIGNMENT;
  }
  const place = (range: BindingRange): Place => placeOf(host.slots, scratch, range);
  const renamed = renameCopies(host.commands, kernels, place);
  const steps: LaunchStep[] = [];
  for (const command of host.commands) {
    if (command.kind === 'other') {
      throw cannot(
        'sequence-command',
        `IREE's host program does '${command.name}' between the kernels, which is no launch.`,
        'rocMLIR’s own kernel is used instead.',
      );
    }
    if (command.kind === 'copy') continue;
    const kernel = kernels.find(({ name }) => name === command.kernel);
    if (kernel === undefined) throw cannot('elf-kernel', `The code object has no kernel '${command.kernel}'.`);
    const known = (values: readonly (number | null)[]): number[] =>
      values.map((value) => {
        if (value !== null) return value;
        throw cannot(
          'workgroup-count',
          `The launch of '${command.kernel}' depends on run-time values.`,
          'The number of workgroups depends on run-time values; give static shapes.',
        );
      });
    steps.push({
      kernel: kernel.name,
      workgroupSizes: kernel.workgroupSizes,
      workgroupCount: known(command.grid),
      workgroupMemory: 0,
      arguments: [
        ...command.bindings.map((binding): StepArgument => {
          const { kind, position, offset } = renamed(place(binding));
          return kind === 'buffer' ? { kind, position, offset } : { kind, offset };
        }),
        ...known(command.constants).map((value): StepArgument => ({ kind: 'constant', value })),
      ],
    });
  }
  const usesScratch = steps.some((step) => step.arguments?.some((argument) => argument.kind === 'scratch'));
  return { scratchBytes: usesScratch ? scratchBytes : 0, steps };
}

function placeOf(slots: readonly BufferSource[], scratch: ReadonlyMap<string, number>, range: BindingRange): Place {
  const slot = range.slot === null ? undefined : slots[range.slot];
  if (slot === undefined || slot.kind === 'other') {
    throw cannot(
      'kernel-arguments',
      'A kernel takes other buffers than the function’s arguments, its results and intermediate results.',
      'IREE keeps large constants in buffers of its own; pass weights as arguments.',
    );
  }
  if (range.offset === null || slot.offset === null) {
    throw cannot(
      'kernel-arguments',
      'Where a kernel’s buffer begins is known at run time only.',
      'Give static shapes.',
    );
  }
  const offset = range.offset + slot.offset;
  if (slot.kind === 'argument') return { kind: 'buffer', position: slot.position, offset };
  return { kind: 'scratch', position: -1, offset: offset + (scratch.get(slot.name) ?? 0) };
}

const overlaps = (a: Place, aLength: number, b: Place, bLength: number): boolean =>
  a.position === b.position && a.offset < b.offset + bLength && b.offset < a.offset + aLength;

/**
 * IREE copies a result that is an intermediate result too. Where nothing else uses the target and nothing writes the source
 * afterwards, the kernels use the target in the place of the source, and the copy is gone. Returns the renaming.
 */
function renameCopies(
  commands: readonly Command[],
  kernels: readonly StepKernel[],
  place: (range: BindingRange) => Place,
): (place: Place) => Place {
  const renames: { from: Place; length: number; to: Place }[] = [];
  const refuse = (): WavesmithError =>
    cannot('sequence-copy', 'IREE’s host program copies a buffer that the kernels cannot write in its place.');
  commands.forEach((copy, index) => {
    if (copy.kind !== 'copy') return;
    const [from, to, length] = [place(copy.source), place(copy.target), copy.source.length];
    if (length === null || from.kind !== 'scratch' || to.kind !== 'buffer') throw refuse();
    commands.forEach((other, at) => {
      if (other === copy || other.kind === 'other') return;
      const ranges = other.kind === 'copy' ? [other.source, other.target] : other.bindings;
      const bindings = other.kind === 'copy' ? undefined : kernels.find(({ name }) => name === other.kernel)?.bindings;
      ranges.forEach((range, i) => {
        const used = place(range);
        const size = range.length ?? Number.POSITIVE_INFINITY;
        if (overlaps(used, size, to, length)) throw refuse();
        if (!overlaps(used, size, from, length)) return;
        const inside = used.offset >= from.offset && used.offset + size <= from.offset + length;
        const writes = bindings === undefined || bindings[i]?.readOnly !== true;
        if (!inside || (writes && at > index)) throw refuse();
      });
    });
    renames.push({ from, length, to });
  });
  return (used) => {
    const rename = renames.find(({ from, length }) => overlaps(used, 1, from, length));
    return rename === undefined ? used : { ...rename.to, offset: rename.to.offset + used.offset - rename.from.offset };
  };
}

/**
 * For one launch of buffers from their beginnings, each another: the position of each. Undefined for every other sequence.
 */
export function singleOrder({ steps }: LaunchSequence): number[] | undefined {
  const [step, ...more] = steps;
  if (step?.arguments === undefined || more.length > 0) return undefined;
  const order = step.arguments.map((a) => (a.kind === 'buffer' && a.offset === 0 ? a.position : -1));
  return order.includes(-1) || new Set(order).size < order.length ? undefined : order;
}
