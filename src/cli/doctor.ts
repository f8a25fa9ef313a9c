// `wavesmith doctor`: what was found on this machine and what will be used for what.
import { clearModuleCache, moduleCacheFacts } from '../device/node/index.ts';
import { examine } from '../iree/doctor.ts';
import { newCommand, parseArguments, printJson } from './support.ts';

export async function run(argv: string[]): Promise<number> {
  const command = newCommand('doctor', 'Show what was found (Node, LLVM, IREE, ROCm, GPU) and what will be used.')
    .option('--json', 'print the findings as JSON')
    .option('--clear-cache', 'remove the compiled modules that the virtual GPU keeps on disk');
  if (!parseArguments(command, argv)) return 0;
  const report = await examine();
  const options = command.opts<{ json?: boolean; clearCache?: boolean }>();
  if (options.clearCache) clearModuleCache();
  const moduleCache = moduleCacheFacts();
  if (options.json) {
    printJson({ ...report, moduleCache });
  } else {
    const width = Math.max(...report.findings.map((f) => f.name.length));
    for (const f of report.findings) {
      const mark = f.ok ? 'ok     ' : f.required ? 'BROKEN ' : 'absent ';
      process.stdout.write(`${mark}${f.name.padEnd(width)}  ${f.found}\n`);
      if (f.path !== null) process.stdout.write(`${' '.repeat(7 + width)}  ${f.path}\n`);
      process.stdout.write(`${' '.repeat(7 + width)}  used for: ${f.usedFor}\n`);
    }
    const { folder, modules, bytes, maxBytes } = moduleCache;
    const size = (n: number): string => `${(n / 2 ** 20).toFixed(1)} MiB`;
    process.stdout.write(
      `\nCompiled modules of the virtual GPU: ${modules} (${size(bytes)} of at most ${size(maxBytes)}) in ${folder}\n`,
    );
  }
  return report.ok ? 0 : 1;
}
