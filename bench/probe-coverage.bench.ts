// The share of points that can be placed: before and behind every instruction of the reference corpus and of IREE's module, by probe, and
// why others are left out. `npm run bench probe-coverage`, `-- --only TEXT` for files whose path has it,
// `-- --every N` for every Nth file, `-- --probe NAME` for one of the two probes.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { WavesmithError } from '../src/base/index.ts';
import { type CodeObject, codeObjectsOf, openContainer } from '../src/codeobject/index.ts';
import { instrument, type ProbeDefinition } from '../src/instrument/index.ts';
import { EVERY_COUNTER, EVERY_RECORD } from '../tests/support/every-point.ts';
import { sharedPath } from '../tests/support/shared.ts';
import { corpusObjects } from './support/texts.ts';

const { values } = parseArgs({
  options: { only: { type: 'string' }, probe: { type: 'string' }, every: { type: 'string', default: '1' } },
});

interface Subject {
  readonly name: string;
  readonly read: () => CodeObject[];
}

function subjects(): Subject[] {
  const paths = [...new Set(corpusObjects().map(({ path }) => path))].sort();
  const module = sharedPath('vmfb', 'llama8b-fp8.gfx942.vmfb');
  return [...paths, ...(module === undefined ? [] : [module])]
    .filter((path) => values.only === undefined || path.includes(values.only))
    .filter((_, i) => i % Number(values.every) === 0)
    .map((path) => ({
      name: path.split('/').slice(-2).join('/'),
      read: () => codeObjectsOf(openContainer(readFileSync(path), path)),
    }));
}

for (const probe of [EVERY_COUNTER, EVERY_RECORD] as unknown as ProbeDefinition[]) {
  if (values.probe !== undefined && values.probe !== probe.name) continue;
  let [placed, all, objects, drains, ms] = [0, 0, 0, 0, 0];
  const reasons = new Map<string, { points: number; where: Set<string> }>();
  const note = (reason: string, points: number, where: string): void => {
    const known = reasons.get(reason) ?? { points: 0, where: new Set() };
    known.points += points;
    known.where.add(where);
    reasons.set(reason, known);
  };
  for (const { name, read } of subjects()) {
    for (const codeObject of read()) {
      objects++;
      const before = process.cpuUsage();
      try {
        const result = instrument(codeObject, probe, { verify: false });
        placed += result.placed;
        all += result.placed + result.rejected.length;
        drains += result.drains;
        for (const { reason, kernel } of result.rejected)
          note(reason.replace(/'[^']*' at 0x\w+/, 'a jump'), 1, `${name}:${kernel}`);
      } catch (error) {
        if (!(error instanceof WavesmithError)) throw error;
        note(`the code object is refused: ${error.code} ${error.message}`, 0, name);
      }
      const { user, system } = process.cpuUsage(before);
      ms += (user + system) / 1000;
    }
  }
  console.log(
    `${probe.name} (${probe.summary}): ${placed} of ${all} points of ${objects} code objects, ${((100 * placed) / all).toFixed(3)} %; ` +
      `${drains} wait for outstanding memory operations; ${(ms / 1000).toFixed(0)} s`,
  );
  for (const [reason, { points, where }] of [...reasons].sort((a, b) => b[1].points - a[1].points))
    console.log(`  ${points} left out in ${where.size} kernel(s): ${reason}; ${[...where].slice(0, 3).join(', ')}`);
}
