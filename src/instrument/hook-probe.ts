// A probe made of hooks: each hook names its points, and the report is what its variables hold.
import { WavesmithError } from '../base/index.ts';
import type { Hook, HookFile, HookVariable } from './hook.ts';
import type { Bytes } from './state.ts';
import { defineProbe, type Points, type ProbeDefinition } from './types.ts';
import type { ProbeInstruction, ProbeProgram } from './view.ts';

/** Instructions by the word behind `before` and `after`. */
const KINDS: Readonly<Record<string, (one: ProbeInstruction) => boolean>> = {
  every: () => true,
  load: (one) => one.isLoad,
  store: (one) => one.isStore,
  atomic: (one) => one.isAtomic,
  matrix: (one) => one.isMatrix,
  branch: (one) => one.isBranch,
  memory: (one) => one.memory !== undefined,
  global: (one) => one.memory === 'global',
  flat: (one) => one.memory === 'flat',
  buffer: (one) => one.memory === 'buffer',
  lds: (one) => one.memory === 'lds',
};

const POINTS = `kernel-entry, kernel-exit, block, before KIND, after KIND with ${Object.keys(KINDS).join(', ')}, or =TEXT`;

type State = { readonly variables: Bytes };

/** The probe of a file of hooks, compiled for some targets. */
export function hookProbe(files: readonly HookFile[], name: string): ProbeDefinition<State> {
  const size = Math.max(1, ...files.map((file) => file.size));
  const variables = files[0]?.variables ?? [];
  return defineProbe({
    name,
    summary: `hooks ${files[0]?.hooks.map((hook) => hook.name).join(', ')}`,
    state: { variables: { kind: 'bytes', size } },
    instrument: ({ program, at }) => {
      const file = files.find((one) => one.target === program.target);
      if (file === undefined) {
        const targets = files.map((one) => one.target).join(', ');
        throw new WavesmithError(
          'probe/hook',
          `The hooks of '${name}' are compiled for ${targets}, not for ${program.target}.`,
        );
      }
      for (const hook of file.hooks) place(hook, program, at);
    },
    report: ({ state }) => ({
      variables: Object.fromEntries(
        variables.map((variable) => [variable.name, shownValue(state.variables.bytes, variable)]),
      ),
    }),
  });
}

function place(hook: Hook, program: ProbeProgram, at: Points<State>): void {
  const [word = '', kind = ''] = hook.point.split(' ');
  const text = hook.point.slice(word.length + 1);
  if (word === 'kernel-entry' || word === 'kernel-exit') {
    for (const kernel of program.kernels.filter((one) => one.isKernel))
      at[word === 'kernel-entry' ? 'kernelEntry' : 'kernelExit'](kernel, (p) => p.hook('variables', hook));
  } else if (word === 'block') {
    for (const block of program.blocks()) at.entry(block, (p) => p.hook('variables', hook));
  } else if ((word === 'before' || word === 'after') && (Object.hasOwn(KINDS, kind) || text.startsWith('='))) {
    const isChosen = KINDS[kind] ?? ((one: ProbeInstruction): boolean => one.text.includes(text.slice(1)));
    for (const one of program.instructions()) {
      // Nothing is behind an instruction that ends the wave or leaves for somewhere else.
      if (word === 'after' && /^s_(endpgm|setpc|swappc|branch)/.test(one.operation)) continue;
      if (isChosen(one)) at[word](one, (p) => p.hook('variables', hook));
    }
  } else {
    throw new WavesmithError('probe/hook', `The hook '${hook.name}' is at '${hook.point}', which is no point.`, {
      hint: `Points are ${POINTS}.`,
    });
  }
}

/** One number for 4 and 8 bytes, else the 32-bit words. */
function shownValue(bytes: Uint8Array, { offset, size }: HookVariable): unknown {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, size);
  if (size === 8) return view.getBigUint64(0, true);
  if (size === 4) return view.getUint32(0, true);
  if (size % 4 !== 0) return [...bytes.subarray(offset, offset + size)];
  return Array.from({ length: size / 4 }, (_, i) => view.getUint32(4 * i, true));
}
