// What an IREE module's host program says about its dispatches: grids, constants and binding ranges, where they are
// constants; everything else stays unknown (null).
// Source: IREE's HAL import signatures (`hal.command_buffer.dispatch`), as declared in the module itself.
import { listRegister, type VmInstruction } from './bytecode.ts';
import { type HostProgram, type PropagationOptions, type State, type Value, visitHostProgram } from './propagate.ts';
import type { Vmfb } from './vmfb.ts';

/** A binding of a dispatch: a slot of the binding table or a buffer value, and the byte range in it. */
export interface VmfbDispatchBinding {
  readonly slot: number | null;
  readonly offset: bigint | null;
  readonly length: bigint | null;
}

/** One dispatch call of the host program. */
export interface VmfbDispatch {
  /** Index into the module's `executables`; null when it cannot be told. */
  readonly executable: number | null;
  /** The kernel's name; null when it cannot be told. */
  readonly kernelName: string | null;
  /** The grid in workgroups. */
  readonly workgroupCount: readonly [number | null, number | null, number | null];
  readonly constants: readonly (number | null)[];
  readonly bindings: readonly VmfbDispatchBinding[];
  /** Ordinal of the VM function that makes the call, and where. */
  readonly functionOrdinal: number;
  readonly pc: number;
}

/** The dispatches of a module, in bytecode order. Throws `vmfb/bytecode-version` for versions not known here. */
export function readDispatches(vmfb: Vmfb, options: PropagationOptions = {}): VmfbDispatch[] {
  const found: Map<number, VmfbDispatch>[] = [];
  visitHostProgram(vmfb, options, (ordinal) => {
    const dispatches = new Map<number, VmfbDispatch>();
    found[ordinal] = dispatches;
    return (instruction, state, program) => {
      const dispatch = dispatchOf(instruction, state, program, ordinal);
      if (dispatch !== undefined) dispatches.set(instruction.pc, dispatch);
    };
  });
  return found.flatMap((dispatches) => [...dispatches.values()].sort((a, b) => a.pc - b.pc));
}

/** The dispatch that a call makes, read along the import's own signature. */
function dispatchOf(
  i: VmInstruction,
  state: State,
  program: HostProgram,
  functionOrdinal: number,
): VmfbDispatch | undefined {
  const { executables } = program.vmfb;
  if (i.mnemonic !== 'call.variadic' || program.importName(i) !== 'hal.command_buffer.dispatch') return undefined;
  const match = /^0(rr[iI]iii\w*?)C(\w+?)DC(\w+?)D_v$/.exec(program.convention(i));
  const [segments, registers] = i.lists;
  const groups = segments.filter((size) => size !== 0xffff);
  if (match === null || groups.length !== 2) return undefined;
  const types = match[1] + match[2].repeat(groups[0]) + match[3].repeat(groups[1]);
  if (types.length !== registers.length) return undefined;
  const values = registers.map((raw, k) => state.get(listRegister(raw), types[k] === 'I'));
  const fixed = match[1].length;
  const number = (value: Value | undefined) => (value?.kind === 'int' ? Number(BigInt.asUintN(32, value.value)) : null);
  const long = (value: Value | undefined) => (value?.kind === 'int' ? BigInt.asUintN(64, value.value) : null);
  const target = values[2];
  let executable = values[1]?.kind === 'executable' ? values[1].index : null;
  if (executable === null && executables.length === 1) executable = 0;
  let kernelName: string | null = null;
  if (target?.kind === 'function') {
    kernelName = target.name;
    executable = target.executable ?? executable ?? program.executableExporting(target.name);
  } else if (target?.kind === 'int' && executable !== null) {
    kernelName = executables[executable].exports[Number(target.value)]?.kernelName ?? null;
  }
  const bindings: VmfbDispatchBinding[] = [];
  for (let b = 0; b < groups[1]; b++) {
    const at = fixed + groups[0] + b * match[3].length;
    const isInTable = values[at + 2]?.kind === 'null';
    bindings.push({
      slot: isInTable ? number(values[at + 1]) : null,
      offset: long(values[at + 3]),
      length: long(values[at + 4]),
    });
  }
  return {
    executable,
    kernelName,
    workgroupCount: [number(values[3]), number(values[4]), number(values[5])],
    constants: values.slice(fixed, fixed + groups[0]).map(number),
    bindings,
    functionOrdinal,
    pc: i.pc,
  };
}
