// Reads of registers that nothing wrote: the program's data flow says which instructions may do that, the probe says which of them ran.
import { checkDefinedness } from '../../check/index.ts';
import { u64PerSite } from '../state.ts';
import { defineProbe } from '../types.ts';
import type { ProbeProgram } from '../view.ts';

interface Read {
  readonly pc: number;
  readonly registers: readonly string[];
  /** No way to the instruction writes them; otherwise some do. */
  readonly never: boolean;
}

function readsOf({ lifted, kernels }: ProbeProgram): Read[] {
  const found = kernels
    .filter((kernel) => kernel.isKernel)
    .flatMap(({ subject }) =>
      checkDefinedness({
        target: lifted.target,
        codeObject: lifted.codeObject,
        program: lifted,
        subject,
        kernel: subject.kernel,
        baseline: undefined,
      }),
    );
  return found.flatMap(({ place, registers = [], rule }) =>
    place?.pc === undefined ? [] : [{ pc: place.pc, registers, never: rule === 'control-flow/uninitialised' }],
  );
}

export default defineProbe({
  name: 'uninit-check',
  summary: 'instructions that ran and may read registers that nothing wrote',
  state: { waves: u64PerSite() },
  instrument({ program, at }) {
    for (const pc of new Set(readsOf(program).map((read) => read.pc))) {
      const one = program.at(pc);
      if (one !== undefined) at.before(one, (p) => p.atomicAdd('waves', 1));
    }
  },
  report({ program, state }) {
    const waves = new Map(state.waves.sites.map(({ site, value }) => [site.pc, value]));
    const all = readsOf(program).map((read) => ({ ...read, waves: waves.get(read.pc) ?? 0n }));
    const reads = all
      .filter((read) => read.waves > 0n)
      .map(({ pc, ...rest }) => ({ pc, instruction: program.at(pc)?.text, source: program.at(pc)?.source, ...rest }));
    return {
      candidates: all.length,
      reads,
      listing: reads.map(({ pc, waves: ran, never }) => ({ pc, waves: ran, never })),
    };
  },
});
