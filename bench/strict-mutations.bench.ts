// Proof of the missing-wait detector: compiled kernels (clang-22, Triton) run in strict mode, first as they are (no finding is
// allowed), then with every counter of every s_waitcnt raised by one and taken out, one at a time. Prints how many mutants are found,
// and what the others' waits were for. Arguments: words that kernel names must contain; `--all` mutates more than MAX_WAITS waits.

import { readCodeObject } from '../src/codeobject/index.ts';
import { createDevice, type RunFinding } from '../src/device/index.ts';
import { liftCodeObject, type Program, type ProgramFunction } from '../src/program/index.ts';
import { type StrictSubject, strictSubjects } from '../tests/support/strict-kernels.ts';
import { contextOf, explainWait, patchWait, waitsOf, weakerWaits } from '../tests/support/wait-mutations.ts';

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const MAX_WAITS = process.argv.includes('--all') ? Number.POSITIVE_INFINITY : 60;

interface Row {
  name: string;
  waits: number;
  mutants: number;
  found: number;
  seconds: number;
  readonly survivors: Map<string, number>;
}

async function findings(subject: StrictSubject, bytes: Uint8Array): Promise<readonly RunFinding[]> {
  const device = await createDevice('sim', { target: subject.target });
  try {
    const result = await subject.run(device, bytes, {});
    return result.findings ?? [];
  } finally {
    device.close();
  }
}

/** Hardware that preloads arguments begins 256 bytes behind the entry; what is before is never executed. */
function isStub({ kernel, entry }: ProgramFunction, pc: number): boolean {
  return (kernel?.descriptor?.preload.length ?? 0) > 0 && pc - entry < 256;
}

/** Waits evenly from the whole kernel. */
function sample<T>(all: readonly T[], most: number): T[] {
  if (all.length <= most) return [...all];
  return Array.from({ length: most }, (_, i) => all[Math.floor((i * all.length) / most)] as T);
}

async function mutate(subject: StrictSubject): Promise<Row> {
  const row: Row = { name: subject.name, waits: 0, mutants: 0, found: 0, seconds: 0, survivors: new Map() };
  const started = performance.now();
  const codeObject = readCodeObject(subject.codeObject);
  const program: Program = liftCodeObject(codeObject);
  const f = program.functions.find((g) => g.kernel?.name === subject.kernel) as ProgramFunction;
  const clean = await findings(subject, subject.codeObject);
  if (clean.length > 0) {
    console.log(
      `${subject.name}: ${clean.length} findings on the kernel as it is: ${clean[0]?.rule} ${clean[0]?.message}`,
    );
  }
  const all = waitsOf(program, f);
  row.waits = all.length;
  for (const code of sample(all, MAX_WAITS)) {
    for (const bits of weakerWaits(code)) {
      const found = await findings(subject, patchWait(program, code, bits));
      row.mutants++;
      if (found.some((d) => d.rule.startsWith('waits/'))) row.found++;
      else {
        const why = isStub(f, code.pc)
          ? 'code for hardware without kernarg preload'
          : explainWait(contextOf(program, f), code);
        row.survivors.set(why, (row.survivors.get(why) ?? 0) + 1);
        if (process.argv.includes('--list')) {
          console.log(`  0x${code.pc.toString(16)}: ${program.text(code.pc)} -> 0x${bits.toString(16)}: ${why}`);
        }
      }
    }
  }
  row.seconds = (performance.now() - started) / 1000;
  return row;
}

function print(row: Row): void {
  const why = [...row.survivors].map(([reason, n]) => `${n} ${reason}`).join(', ');
  const rate = row.mutants === 0 ? '-' : `${((100 * row.found) / row.mutants).toFixed(1)}%`;
  const cells = [row.waits, row.mutants, row.found].map((n) => String(n).padStart(7)).join(' ');
  console.log(`${row.name.padEnd(42)} ${cells} ${rate.padStart(7)} ${row.seconds.toFixed(1).padStart(7)}  ${why}`);
}

const total: Row = { name: 'all', waits: 0, mutants: 0, found: 0, seconds: 0, survivors: new Map() };
console.log(`${'kernel'.padEnd(42)}   waits mutants   found    rate seconds  survivors`);
for (const subject of strictSubjects()) {
  if (words.length > 0 && !words.some((word) => subject.name.includes(word))) continue;
  const row = await mutate(subject);
  print(row);
  for (const key of ['waits', 'mutants', 'found', 'seconds'] as const) total[key] += row[key];
  for (const [why, n] of row.survivors) total.survivors.set(why, (total.survivors.get(why) ?? 0) + n);
}
print(total);
