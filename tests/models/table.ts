// The table of docs/models.md.
import { type ModelRow, STEPS } from './try-model.ts';

const HEAD = `# Models that are tried

\`npm run models\` takes each model on each target through the whole loop of [hijack.md](hijack.md), as a user would:

1. **init** compiles the model and lays out the folder.
2. **same bytes**: a build without an edit is the module, byte for byte.
3. **same code**: a comment in every file makes the build assemble every line; the code is the module's.
4. **harmless**: one \`s_nop\` in every kernel is built, proved, changes no instruction outside the edited lines, and the results are EQUAL.
5. **harmful**: every store of every kernel writes inverted bits; the results are DIFFERENT.
6. **refused**: a wrong instruction and too much LDS are refused, with the file.

Texts: how many executables have the compiler's own text, and how many were disassembled because the compiler's text is not their code.
The models are in \`tests/models/\`: MLIR, and ONNX models through \`iree-import-onnx\`. The time is of all steps together on a shared
two-core machine.

`;

/** The rows as Markdown. */
export function tableOf(rows: readonly ModelRow[]): string {
  const lines = rows.map((row) => {
    const texts = `${row.compilerTexts} compiler, ${row.executables - row.compilerTexts} disassembled`;
    const steps =
      row.failure === null
        ? `all ${STEPS.length}`
        : `${row.held.length} of ${STEPS.length}; ${row.failure.split('\n')[0]}`;
    return `| ${row.model} | ${row.target} | ${row.executables} | ${row.kernels} | ${texts} | ${steps} | ${row.seconds.toFixed(1)} s |`;
  });
  return `${HEAD}| model | target | executables | kernels | texts | steps that held | time |\n|---|---|---|---|---|---|---|\n${lines.join('\n')}\n`;
}
