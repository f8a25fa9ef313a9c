// Debian's LLVM 22 as conformance oracle. Tests that need it skip with a message when it is not installed.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env.WAVESMITH_LLVM ?? '/usr/lib/llvm-22/bin';

/** The path of an LLVM 22 tool (`llvm-mc`, `clang-22`, `ld.lld`, `FileCheck`), or undefined with a message. */
export function llvmTool(name: string): string | undefined {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  console.warn(`skipped: LLVM 22's ${name} is not installed ('npm run setup' installs it).`);
  return undefined;
}
