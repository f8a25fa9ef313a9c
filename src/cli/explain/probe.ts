// Error codes of probes: what is wrong with a probe's own code, and why code cannot be put into a kernel.
import type { ErrorPages } from './types.ts';

export const PROBE_ERRORS: ErrorPages = {
  'instrument/text': [
    'Code of a probe is no instruction of the target.',
    'Write the instruction as `wavesmith isa` shows it for this target.',
  ],
  'instrument/unsound': [
    'The checker found a mistake in the instrumented code that the original does not have, so the code was not used.',
    'This is a defect of wavesmith; the code object that shows it helps to mend it. `--kernel` leaves kernels out.',
  ],
  'probe/asm': [
    'Assembly text of a probe names what is neither an input nor an output, overwrites what is not declared, or leaves the text.',
    'Declare inputs, outputs and clobbers: `p.asm(text, { inputs, outputs, clobbers })`. docs/adding-a-probe.md has an example.',
  ],
  'probe/setting': [
    'A setting was given that the probe does not have, or with a value that it does not understand.',
    '`wavesmith probe --list` shows the settings of the shipped probes.',
  ],
  'probe/hook': [
    'A file of hooks cannot be used: it has none, it is for another target, or a hook needs what hooks cannot have (a stack, calls, arguments that its point does not name).',
    'The message names the hook and the reason; docs/hooks.md lists what hooks may do.',
  ],
  'probe/definition': [
    'The file of a probe does not export a probe as its default.',
    '`wavesmith probe --new FILE.ts` writes one to compare with.',
  ],
  'probe/failed': [
    "The probe's own code threw an exception at the line that is named.",
    'Mend the probe; docs/adding-a-probe.md describes what a probe may ask for.',
  ],
  'probe/no-address': [
    'A probe asks for the address of a memory access at a point without one.',
    'Ask only at instructions whose `memory` is set.',
  ],
  'probe/no-argument': [
    'A probe asks for an argument that the kernel does not have.',
    '`wavesmith inspect FILE` lists the arguments of a kernel.',
  ],
  'probe/no-data': [
    'A probe asks for the data of a memory access at a point where there is none, or before a load has brought it.',
    'Ask at vector memory and LDS instructions only, and of loads behind them: `at.after`.',
  ],
  'probe/no-kernel': [
    '`--kernel` of `wavesmith probe` fits none of the kernels, so nothing would be probed.',
    'Mend the pattern; a plain part of the name is one. `wavesmith inspect FILE` lists the kernels.',
  ],
  'probe/no-state': [
    'A probe adds to a counter, or appends to a list, that its `state` does not declare.',
    'Declare it in `state`, or mend the name.',
  ],
  'probe/not-in-kernel': [
    'A probe asks in a function for what only a kernel gets at its start: arguments, the dispatch, the workgroup.',
    'Ask in kernels only: `kernel.isKernel`.',
  ],
  'probe/records': [
    'The records of a probe would take no memory, or more than 64 MiB.',
    'Choose another capacity. Records that do not fit are counted and dropped.',
  ],
  'probe/register': [
    'A probe names a register that does not exist, or one of more than 64 bits.',
    'Name sN, s[N:N+1], vN, v[N:N+1], aN, a[N:N+1], vcc, m0 or scc.',
  ],
  'probe/self-check': [
    'With the probe, the kernel leaves other bytes in a buffer than without it, or its run fails.',
    'The message names the first point that is guilty. Kernels whose results depend on timing differ by themselves.',
  ],
  'probe/source': [
    'The file of a probe is no JavaScript or TypeScript that can be read.',
    'Mend the line that is named.',
  ],
  'probe/type': [
    'A value of a probe does not fit where it is used: one by lane where one for the wave is wanted, or 64 bits for 32.',
    'docs/adding-a-probe.md has the types of all values.',
  ],
  'probe/unknown': [
    '`--tool` names neither a shipped probe nor a file.',
    '`wavesmith probe --list` shows the shipped probes.',
  ],
};
