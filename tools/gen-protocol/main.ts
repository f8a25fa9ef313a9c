// Writes the protocol of `wavesmith exec` in TypeScript and in C++ from messages.ts. `--check` compares and exits 1 when a file differs.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { cppText } from './cpp.ts';
import { typescriptText } from './typescript.ts';

const root = dirname(dirname(dirname(resolve(process.argv[1] ?? '.'))));
const files: readonly (readonly [string, string])[] = [
  ['src/runtime/generated/messages.ts', typescriptText()],
  ['native/common/protocol.h', cppText()],
];
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
console.log(check ? 'gen-protocol: checked 2 files' : 'gen-protocol: wrote 2 files');
