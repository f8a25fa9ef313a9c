// Writes src/rocmlir/generated/migraphx.ts: every operation of the `migraphx` dialect with operands and attributes by name, from
// rocMLIR's MIGraphX.td. Several files, oldest first, are taken together: what a later one defines counts, what it dropped stays.
// Run: node scripts/run-ts.mjs tools/gen-migraphx/main.ts LABEL=FILE.td…   (LABEL says which version it is, as commit:path)
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readOperations, type TdOperation } from './tablegen.ts';

const FOLDER = 'src/rocmlir/generated';

/** The generated file's text. */
export function generatedText(files: readonly { readonly label: string; readonly text: string }[]): string {
  const all = new Map<string, TdOperation>();
  for (const { text } of files) for (const operation of readOperations(text)) all.set(operation.name, operation);
  const operations = [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const line = ({ name, operands, attributes }: TdOperation): string => {
    const a = operands.map((o) => `{ name: '${o.name}', count: '${o.count}', type: '${o.type}' }`);
    const b = attributes.map((o) => `{ name: '${o.name}', type: '${o.type}', optional: ${o.optional} }`);
    return `  { name: '${name}', operands: [${a.join(', ')}], attributes: [${b.join(', ')}] },`;
  };
  return [
    '// The migraphx dialect by name. Written by tools/gen-migraphx; do not edit.',
    `// Source: ${files.map(({ label }) => label).join('; ')}.`,
    '',
    '/** An operation as its definition has it. */',
    'export interface DefinedOperation {',
    '  readonly name: string;',
    "  readonly operands: readonly { readonly name: string; readonly count: 'one' | 'optional' | 'variadic'; readonly type: string }[];",
    '  readonly attributes: readonly { readonly name: string; readonly type: string; readonly optional: boolean }[];',
    '}',
    '',
    '/** By name. */',
    'export const DEFINED_OPERATIONS: readonly DefinedOperation[] = [',
    ...operations.map(line),
    '];',
    '',
  ].join('\n');
}

const given = process.argv.slice(2).map((argument) => argument.split(/=(.*)/s));
if (given.length === 0 || given.some(([, file]) => file === undefined)) {
  process.stderr.write('Usage: node scripts/run-ts.mjs tools/gen-migraphx/main.ts LABEL=FILE.td…\n');
  process.exitCode = 2;
} else {
  const text = generatedText(given.map(([label, file]) => ({ label, text: readFileSync(file, 'utf8') })));
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}/migraphx.ts`, text);
  process.stdout.write(
    `gen-migraphx: ${text.match(/^ {2}\{ name: '/gm)?.length ?? 0} operations in ${FOLDER}/migraphx.ts\n`,
  );
}
