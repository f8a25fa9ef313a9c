// `wavesmith doctor`: what was found on this machine and what will be used for what.

import { WavesmithError } from '../base/index.ts';
import { clearModuleCache, moduleCacheFacts } from '../device/node/index.ts';
import { examine, type Requirement } from '../iree/doctor.ts';
import { packageRoot } from '../iree/tools.ts';
import { findNativeBuild, loadAddon } from '../runtime/addon.ts';
import { buildNative } from '../runtime/build.ts';
import { newCommand, parseArguments, printJson } from './support.ts';

export async function run(argv: string[]): Promise<number> {
  const command = newCommand('doctor', 'Show what was found (Node, LLVM, IREE, ROCm, GPU) and what will be used.')
    .option('--json', 'print the findings as JSON')
    .option('--build-native', 'build the native libraries that exec needs (cmake and a C++20 compiler)')
    .option('--clear-cache', 'remove the compiled modules that the virtual GPU keeps on disk');
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<{ json?: boolean; clearCache?: boolean; buildNative?: boolean }>();
  if (options.buildNative) {
    const { folder } = buildNative(packageRoot() ?? '.');
    process.stdout.write(`The native libraries are built in ${folder}.\n`);
    return 0;
  }
  const examined = await examine();
  const report = { ...examined, findings: [...examined.findings, nativeBuild()] };
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

/** The native libraries of `exec`. */
function nativeBuild(): Requirement {
  const base = {
    name: 'native libraries',
    required: false,
    usedFor: "'exec' (HIP and HSA programs on the virtual GPU), 'hijack run'",
  };
  try {
    const build = findNativeBuild(packageRoot() ?? '.');
    loadAddon(build);
    return { ...base, ok: true, found: 'HSA and HIP runtime, addon loads', path: build.folder };
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return {
      ...base,
      ok: false,
      found: `${error.message} ('wavesmith doctor --build-native' builds them)`,
      path: null,
    };
  }
}
