// What the tests of the rewriter share: harmless edits at every place of a program.
import { createDevice, type DeviceBuffer, type SimDispatchResult, type StrictOptions } from '../../src/device/index.ts';
import type { Program } from '../../src/program/index.ts';
import type { CodeEdits } from '../../src/rewrite/index.ts';
import type { StrictSubject } from './strict-kernels.ts';

/** `s_nop 0` */
export const NOP = new Uint8Array([0, 0, 0x80, 0xbf]);

/** An s_nop before every instruction. */
export function padEveryInstruction(program: Program): CodeEdits {
  return { before: new Map(program.instructions.map(({ pc }) => [pc, [NOP]])) };
}

/** An s_nop before, behind and on every edge. */
export function padEveryPoint(program: Program): CodeEdits {
  const edges = program.blocks.flatMap((block) => {
    const last = program.instructions[block.end - 1];
    return last !== undefined && (block.exit === 'branch' || block.exit === 'jump') ? [last.pc] : [];
  });
  return {
    ...padEveryInstruction(program),
    after: new Map(program.instructions.map(({ pc }) => [pc, [NOP, NOP]])),
    taken: new Map(edges.map((pc) => [pc, [NOP]])),
  };
}

/** Every byte that a run of a subject's code leaves in the memory it allocates, and what the run says. */
export async function runSubject(
  subject: StrictSubject,
  codeObject: Uint8Array,
  strict?: StrictOptions,
): Promise<{ readonly result: SimDispatchResult; readonly contents: readonly Uint8Array[] }> {
  const device = await createDevice('sim', { target: subject.target });
  const buffers: DeviceBuffer[] = [];
  const alloc = device.alloc.bind(device);
  device.alloc = (size, label) => {
    const buffer = alloc(size, label);
    buffers.push(buffer);
    return buffer;
  };
  const result = await subject.run(device, codeObject, strict);
  const contents = buffers.map((buffer) => device.read(buffer));
  device.close();
  return { result, contents };
}
