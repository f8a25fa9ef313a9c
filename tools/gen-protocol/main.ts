// Writes the protocols of `wavesmith exec` and of the tools library in TypeScript and in C++. `--check` compares and exits 1 when a file differs.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { cppText } from './cpp.ts';
import { EXEC_PROTOCOL } from './messages.ts';
import { TOOL_PROTOCOL } from './tool-messages.ts';
import { typescriptText } from './typescript.ts';

const root = dirname(dirname(dirname(resolve(process.argv[1] ?? '.'))));
const files: readonly (readonly [string, string])[] = [EXEC_PROTOCOL, TOOL_PROTOCOL].flatMap((protocol) => [
  [protocol.typescript, typescriptText(protocol)] as const,
  [protocol.cpp, cppText(protocol)] as const,
]);
const check = process.argv.includes('--check');
for (const [name, text] of files) {
  const path = join(root, name);
  if (!check) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    console.error(`gen-protocol: ${name} differs from its source; run tools/gen-protocol/main.ts`);
    process.exitCode = 1;
  }
}
console.log(`gen-protocol: ${check ? 'checked' : 'wrote'} ${files.length} files`);
