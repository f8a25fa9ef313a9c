// `npm run models [-- MODEL… --target T --table FILE]`: every model on every target through the whole hijack loop, and a table of it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MODELS, TARGETS } from './models.ts';
import { tableOf } from './table.ts';
import { type ModelRow, tryModel } from './try-model.ts';

const USAGE = `Usage: npm run models [-- OPTIONS] [MODEL…]

Takes every model (or those named) on every target through init, build, run and back, and says which steps held.

  --target NAME   only this target
  --table FILE    write the table as Markdown
  --list          the models
`;

async function run(argv: readonly string[]): Promise<number> {
  const names: string[] = [];
  let target: string | undefined;
  let table: string | undefined;
  for (let i = 0; i < argv.length; i++) {
    if (argv[i] === '--target') target = argv[++i];
    else if (argv[i] === '--table') table = argv[++i];
    else if (argv[i] === '--list') {
      process.stdout.write(`${MODELS.map((m) => `${m.name}  ${(m.targets ?? TARGETS).join(' ')}`).join('\n')}\n`);
      return 0;
    } else if (argv[i].startsWith('-')) {
      process.stderr.write(USAGE);
      return 2;
    } else names.push(argv[i]);
  }
  const unknown = names.filter((name) => !MODELS.some((m) => m.name === name));
  if (unknown.length > 0 || (target !== undefined && !TARGETS.includes(target))) {
    process.stderr.write(
      `models: there is no ${unknown.length > 0 ? `model '${unknown[0]}'` : `target '${target}'`}.\n`,
    );
    return 2;
  }
  const rows: ModelRow[] = [];
  for (const model of MODELS.filter((m) => names.length === 0 || names.includes(m.name))) {
    for (const one of (model.targets ?? TARGETS).filter((t) => target === undefined || t === target)) {
      const folder = mkdtempSync(join(tmpdir(), 'wavesmith-models-'));
      try {
        const row = await tryModel(model, one, folder);
        rows.push(row);
        const result = row.failure === null ? 'all steps held' : `FAILED at ${row.failure}`;
        process.stdout.write(`${row.model} ${row.target}: ${result} (${row.seconds.toFixed(1)} s)\n`);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }
  }
  const failed = rows.filter((row) => row.failure !== null).length;
  process.stdout.write(`${rows.length - failed} of ${rows.length} held\n`);
  if (table !== undefined) writeFileSync(table, tableOf(rows));
  return failed === 0 ? 0 : 1;
}

process.exitCode = await run(process.argv.slice(2));
