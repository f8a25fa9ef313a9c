// `npm run models [-- MODEL… --target T --table FILE]`: every model on every target through the whole hijack loop, and a table of it.
// A model of one's own is tried the same way: `npm run models -- my.mlir --target gfx942`.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, extname, join, resolve } from 'node:path';
import { MODELS, type Model, TARGETS } from './models.ts';
import { tableOf } from './table.ts';
import { type ModelRow, tryModel } from './try-model.ts';

const USAGE = `Usage: npm run models [-- OPTIONS] [MODEL|FILE.mlir|FILE.onnx…] [-- RUN-OPTIONS]

Takes every model (or those named) on every target through init, build, run and back, and says which steps held.
RUN-OPTIONS go to 'hijack run' for the files: --function, --input, --parameters.

  --target NAME   only this target
  --table FILE    write the table as Markdown; rows of FILE that are not tried stay
  --list          the models
`;

const isFile = (name: string): boolean => /\.(?:mlir|onnx)$/.test(name);

function modelOfFile(file: string, runOptions: readonly string[]): Model {
  return { name: basename(file, extname(file)), source: { file: resolve(file) }, run: () => runOptions };
}

async function run(words: readonly string[]): Promise<number> {
  const cut = words.indexOf('--');
  const argv = cut < 0 ? words : words.slice(0, cut);
  const runOptions = cut < 0 ? [] : words.slice(cut + 1);
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
  const unknown = names.filter((name) => (isFile(name) ? !existsSync(name) : !MODELS.some((m) => m.name === name)));
  if (unknown.length > 0 || (target !== undefined && !TARGETS.includes(target))) {
    process.stderr.write(
      `models: there is no ${unknown.length > 0 ? `model '${unknown[0]}'` : `target '${target}'`}.\n`,
    );
    return 2;
  }
  const rows: ModelRow[] = [];
  const models = [
    ...MODELS.filter((m) => names.length === 0 || names.includes(m.name)),
    ...names.filter(isFile).map((file) => modelOfFile(file, runOptions)),
  ];
  for (const model of models) {
    for (const one of (model.targets ?? TARGETS).filter((t) => target === undefined || t === target)) {
      const folder = mkdtempSync(join(tmpdir(), 'wavesmith-models-'));
      try {
        const row = await tryModel(model, one, folder);
        rows.push(row);
        // After each row: a run that is interrupted has what it did.
        if (table !== undefined)
          writeFileSync(table, tableOf([row], existsSync(table) ? readFileSync(table, 'utf8') : ''));
        const result = row.failure === null ? 'all steps held' : `FAILED at ${row.failure}`;
        process.stdout.write(`${row.model} ${row.target}: ${result} (${row.seconds.toFixed(1)} s)\n`);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }
  }
  const failed = rows.filter((row) => row.failure !== null).length;
  process.stdout.write(`${rows.length - failed} of ${rows.length} held\n`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await run(process.argv.slice(2));
