// The table of docs/models.md.
import { MODELS, TARGETS } from './models.ts';
import { type ModelRow, STEPS } from './try-model.ts';

const HEAD = `# Models that are tried

\`npm run models\` takes each model on each target through the whole loop of [hijack.md](hijack.md), as a user would:

1. **init** compiles the model and lays out the folder.
2. **same bytes**: a build without an edit is the module, byte for byte.
3. **same code**: a comment in every file makes the build assemble every line; the code is the module's.
4. **harmless**: one \`s_nop\` in every kernel is built, proved, changes no instruction outside the edited lines, and the results are EQUAL.
5. **harmful**: every store of every kernel writes another value; the results are DIFFERENT.
6. **refused**: a wrong instruction and too much LDS are refused, with the file.

Texts: how many executables have the compiler's own text, and how many were disassembled because the compiler's text is not their code.
\`npm run models -- MODEL --target T --table FILE\` tries some again and keeps the other rows; \`npm run models -- my.mlir --target gfx942\`
tries a model of your own. The models are in \`tests/models/\`: MLIR, and ONNX models through \`iree-import-onnx\`. The time is of all steps together on a shared
two-core machine.

`;

/** A row of the table. */
function lineOf(row: ModelRow): string {
  const texts = `${row.compilerTexts} compiler, ${row.executables - row.compilerTexts} disassembled`;
  const steps =
    row.failure === null
      ? `all ${STEPS.length}`
      : `${row.held.length} of ${STEPS.length}; ${row.failure.split('\n')[0]}`;
  return `| ${row.model} | ${row.target} | ${row.executables} | ${row.kernels} | ${texts} | ${steps} | ${row.seconds.toFixed(1)} s |`;
}

/** What identifies a row: model and target. */
const keyOf = (line: string): string => line.split('|').slice(1, 3).join('|');

/** The rows as Markdown; lines of an earlier table stay where their model and target were not tried again and still exist. */
export function tableOf(rows: readonly ModelRow[], earlier = ''): string {
  const lines = new Map(
    [...earlier.matchAll(/^\| [\w-]+ \| gfx\w+ \|.*$/gm), ...rows.map((row) => [lineOf(row)])].map(([line]) => [
      keyOf(line),
      line,
    ]),
  );
  const order = MODELS.flatMap(({ name, targets = TARGETS }) => targets.map((target) => ` ${name} | ${target} `));
  const known = order.flatMap((key) => lines.get(key) ?? []);
  const others = rows.map(lineOf).filter((line) => !order.includes(keyOf(line)));
  const body = [...known, ...others].join('\n');
  return `${HEAD}| model | target | executables | kernels | texts | steps that held | time |\n|---|---|---|---|---|---|---|\n${body}\n`;
}
