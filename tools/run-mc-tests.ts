// Runs LLVM's MC and disassembler tests with `wavesmith mc` in the place of llvm-mc; FileCheck of LLVM 22 decides.
// usage: run-mc-tests [--filter TEXT] [--show N] [--all] FILE-OR-FOLDER…
// A RUN line counts when its processor is supported and it passes with the real llvm-mc. gfx940 and gfx941 are run as gfx942.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { isTargetName } from '../src/isa/table/targets.ts';
import { llvmTool } from '../tests/support/llvm.ts';

interface Tools {
  readonly llvmMc: string;
  readonly ours: string;
  readonly folder: string;
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true })
    .map((name) => join(path, String(name)))
    .filter((name) => /\.(s|txt)$/.test(name))
    .sort();
}

/** RUN lines of a test, continuation lines joined. */
function runLines(text: string): string[] {
  const lines: string[] = [];
  let open = false;
  for (const raw of text.split(/\r?\n/)) {
    const match = /(?:^|\W)RUN:\s*(.*)$/.exec(raw);
    if (match === null) continue;
    const line = (match[1] as string).trim();
    if (open) lines[lines.length - 1] += ` ${line.replace(/\\$/, '')}`;
    else lines.push(line.replace(/\\$/, ''));
    open = line.endsWith('\\');
  }
  return lines;
}

/** The processor of a RUN line that uses llvm-mc, undefined for others. */
function processorOf(line: string): string | undefined {
  if (!/(^|[\s|])llvm-mc\b/.test(line)) return undefined;
  return /-mcpu[= ](\S+)/.exec(line)?.[1];
}

/** A RUN line as a shell command with `mc` in the place of llvm-mc. */
function command(line: string, file: string, mc: string, tools: Tools): string {
  const bin = dirname(tools.llvmMc);
  const work = join(tools.folder, 'out');
  return line
    .replace(/%s\b/g, file)
    .replace(/%S\b|%p\b/g, dirname(file))
    .replace(/%t\b/g, work)
    .replace(/%T\b/g, tools.folder)
    .replace(/%\{[^}]*\}/g, '')
    .replace(/(^|[|;&]\s*)not\s+(--crash\s+)?/g, '$1! ')
    .replace(/(?<![\w/-])llvm-mc\b/g, mc)
    .replace(/(?<![\w/-])(llvm-readobj|llvm-readelf|llvm-objdump|FileCheck|llvm-nm|obj2yaml)\b/g, join(bin, '$1'))
    .replace(/! (.*?)(\||$)/, (_, run: string, pipe: string) => `( ${run}; [ $? -eq 1 ] ) ${pipe}`);
}

function passes(line: string, file: string, mc: string, tools: Tools): { ok: boolean; output: string } {
  const script = `set -o pipefail\n${command(line, file, mc, tools)}`;
  const run = spawnSync('bash', ['-c', script], { encoding: 'latin1', timeout: 120_000, maxBuffer: 1 << 28 });
  return { ok: run.status === 0, output: `${run.stdout}${run.stderr}` };
}

function main(argv: string[]): number {
  const llvmMc = llvmTool('llvm-mc');
  if (llvmMc === undefined || llvmTool('FileCheck') === undefined) return 0;
  const paths: string[] = [];
  let filter = '';
  let show = 10;
  let every = false;
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i] as string;
    if (arg === '--filter') filter = argv[++i] as string;
    else if (arg === '--show') show = Number(argv[++i]);
    else if (arg === '--all') every = true;
    else paths.push(arg);
  }
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-run-mc-'));
  const ours = `${resolve('bin/wavesmith')} mc`;
  const tools: Tools = { llvmMc, ours, folder };
  let passed = 0;
  const failed: string[] = [];
  let skipped = 0;
  try {
    for (const path of paths.flatMap(filesOf)) {
      const text = readFileSync(path, 'latin1').replace(/\bgfx94[01]\b/g, 'gfx942');
      const lines = runLines(text).filter((line) => isTargetName(processorOf(line) ?? ''));
      if (lines.length === 0 || (filter !== '' && !path.includes(filter))) continue;
      const file = join(folder, basename(path));
      writeFileSync(file, text, 'latin1');
      for (const line of lines) {
        if (!every && !passes(line, file, llvmMc, tools).ok) {
          skipped++;
          continue;
        }
        const result = passes(line, file, ours, tools);
        if (result.ok) passed++;
        else {
          failed.push(path);
          if (failed.length <= show) console.log(`FAIL ${path}\n  ${line}\n${result.output.slice(0, 1500)}`);
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${passed} RUN lines pass, ${failed.length} fail, ${skipped} skipped (llvm-mc 22 does not pass them)`);
  for (const path of new Set(failed)) console.log(`  fails: ${path}`);
  return failed.length === 0 ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
