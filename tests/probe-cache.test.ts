// Instrumented code objects are kept by content: from the cache they are the same, and so is all that is said of them.
import { expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import { defineProbe, instrument, type ProbeDefinition, TOOLS, u64PerSite } from '../src/instrument/index.ts';
import { kernelSource } from './support/kernel-source.ts';

const code = readCodeObject(
  assembleAndLink(
    kernelSource({ code: 's_mov_b32 s4, 3\n.L: s_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 .L' }),
  ),
);

function memoryCache() {
  const entries = new Map<string, Uint8Array>();
  const name = (key: Uint8Array): string => Buffer.from(key).toString('hex');
  return {
    entries,
    get: (key: Uint8Array) => entries.get(name(key)),
    put: (key: Uint8Array, bytes: Uint8Array) => void entries.set(name(key), bytes),
  };
}

test('what comes from the cache is what was made', () => {
  const cache = memoryCache();
  const probe = { ...TOOLS['instr-count'], source: 'shipped instr-count' } as unknown as ProbeDefinition;
  const made = instrument(code, probe, { cache });
  expect(cache.entries.size).toBe(1);
  const kept = instrument(code, probe, { cache });
  expect(cache.entries.size).toBe(1);
  expect(kept.codeObject.bytes).toEqual(made.codeObject.bytes);
  const { report: _, pcs, codeObject, program, ...facts } = kept;
  const { report: __, pcs: madePcs, codeObject: ___, program: madeProgram, ...madeFacts } = made;
  expect(facts).toEqual(madeFacts);
  const memory = new Uint8Array(made.memory.size).fill(1);
  expect(kept.report(memory)).toEqual(made.report(memory));
  for (const one of madeProgram.instructions()) {
    const now = madePcs.now(one.pc) as number;
    expect(pcs.now(one.pc)).toBe(now);
    expect(pcs.original(now)).toEqual({ pc: one.pc, isInserted: false });
  }
  expect(program.kernels.map((k) => k.name)).toEqual(madeProgram.kernels.map((k) => k.name));
  expect(codeObject.kernels[0]?.name).toBe('k');
  // Other settings, other kernels and another probe are other results.
  instrument(code, probe, { cache, settings: { level: 'wave' } });
  instrument(code, probe, { cache, kernel: /k/ });
  instrument(code, { ...probe, source: 'another' }, { cache });
  expect(cache.entries.size).toBe(4);
});

test('a probe that notes things while it names its points may use them in its report', () => {
  const cache = memoryCache();
  const make = (): ProbeDefinition => {
    const seen: number[] = [];
    return defineProbe({
      name: 'noting',
      summary: 'notes its points',
      source: 'noting',
      state: { runs: u64PerSite() },
      instrument: ({ program, at }) => {
        for (const block of program.blocks()) {
          seen.push(block.pc);
          at.entry(block, (p) => p.atomicAdd('runs', 1));
        }
      },
      report: () => ({ seen: [...seen] }),
    }) as unknown as ProbeDefinition;
  };
  const made = instrument(code, make(), { cache });
  const kept = instrument(code, make(), { cache });
  const memory = new Uint8Array(made.memory.size);
  expect(kept.report(memory)).toEqual(made.report(memory));
  expect(kept.report(memory)).toEqual(made.report(memory));
});
