// Small kernels with one mistake each, and their twins without: what `check` and `run --check` find, side by side. The table is
// docs/buggy-kernels.md.
import { describe, expect, test } from 'vitest';
import { type BuggyKernel, buggyKernels, checkedRules, scheduleReport, strictRules } from './support/buggy-kernels.ts';

const KERNELS = buggyKernels();

describe.each(KERNELS.map((kernel) => [kernel.name, kernel] as const))('%s', (_name, kernel) => {
  test('check', () => {
    expect(checkedRules(kernel, 'wrong')).toEqual([...kernel.check].sort());
    expect(checkedRules(kernel, 'right')).toEqual([]);
  });

  test.each(['compiled', 'interpreter'] as const)('run --check: %s', async (engine) => {
    expect(await strictRules(kernel, 'wrong', engine)).toEqual([...kernel.run].sort());
    expect(await strictRules(kernel, 'right', engine)).toEqual([]);
  });
});

describe.each(KERNELS.filter((kernel) => kernel.dependsOnSchedule).map((kernel) => [kernel.name, kernel] as const))(
  '%s with --schedules',
  (_name, kernel) => {
    test('the wrong kernel leaves other memory, and an instruction is named', async () => {
      const report = await scheduleReport(kernel, 'wrong');
      const { difference } = report;
      expect(difference?.at).toBeDefined();
      expect((difference?.instruction ?? difference?.store)?.instruction).toBeDefined();
      expect(await scheduleReport(kernel, 'wrong')).toEqual(report);
    });

    test('its twin leaves the same', async () => {
      expect((await scheduleReport(kernel, 'right')).difference).toBeUndefined();
    });
  },
);

test('no mistake but those of logic is missed by both', () => {
  const missed = KERNELS.filter(({ check, run }) => check.length + run.length === 0).map(({ name }) => name);
  expect(missed.filter((name) => !name.startsWith('logic-'))).toEqual([]);
});

function row({ name, sentence, check, run, dependsOnSchedule }: BuggyKernel): string {
  const rules = (all: readonly string[]): string => (all.length === 0 ? '–' : all.map((r) => `\`${r}\``).join(', '));
  return `| [${name}](../tests/fixtures/buggy-kernels/${name}.s) | ${sentence} | ${rules(check)} | ${rules(run)} | ${dependsOnSchedule ? 'differs' : '–'} |`;
}

test('the table is the one of the documentation', async () => {
  const missedBy = (kind: 'check' | 'run'): number => KERNELS.filter((kernel) => kernel[kind].length === 0).length;
  const page = `# Buggy kernels

What \`wavesmith check\`, \`wavesmith run --check\` and \`wavesmith run --schedules\` find in ${KERNELS.length} small kernels with one mistake each. The files are
\`tests/fixtures/buggy-kernels/\`: each holds the kernel \`wrong\` and its mended twin \`right\`, and its first line says what must be found.
\`tests/buggy-kernels.test.ts\` runs them on both kernels, holds that exactly these rules speak, that nothing is said about a twin,
and writes this page.

The checker sees all paths but no addresses; strict mode sees addresses, but only the path that runs. ${missedBy('check')} of the mistakes
are invisible to the checker, ${missedBy('run')} to strict mode.

| kernel | mistake | \`check\` | \`run --check\` | \`run --schedules 8\` |
|---|---|---|---|---|
${KERNELS.map(row).join('\n')}
`;
  await expect(page).toMatchFileSnapshot('../docs/buggy-kernels.md');
});
