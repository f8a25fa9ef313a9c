// Room `cli/probe`: the parts of `wavesmith probe`: loading probes, starting new ones, and what is printed.
// Begin with ../probe.ts, the command; this file loads a probe, shipped or of a user's file.
//
// A user's TypeScript is bundled with esbuild; its import of this package's instrument entry is answered by this process's own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, SourceMap, type SourceMapping } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import {
  defineProbe,
  type ProbeDefinition,
  records,
  TOOLS,
  u64,
  u64PerSite,
  u64Table,
} from '../../instrument/index.ts';
import { readInput } from '../support.ts';

/** Names of files with hooks. */
const HOOK_FILE = /\.(hip|cpp|cc|cxx|o)$/;
/** What probes import, as a pattern. */
const PACKAGE = /^wavesmith\/instrument$/;
/** Where a bundled probe finds the package: modules of a bundle are not the modules of this process. */
const GLOBAL = 'wavesmith.instrument';
/** Where the bundle of a file is, and the lines that its code came from. */
const maps = new Map<string, { readonly path: string; readonly map: SourceMap; readonly source: string }>();
const NAMES = { defineProbe, records, u64, u64PerSite, u64Table };

/** A probe by the name of a shipped one or by its file; throws `probe/unknown`, `probe/source`, `probe/definition`. */
export async function loadProbe(name: string): Promise<ProbeDefinition> {
  if (Object.hasOwn(TOOLS, name)) {
    const shipped = TOOLS[name as keyof typeof TOOLS] as unknown as ProbeDefinition;
    return { ...shipped, source: `shipped ${name}` };
  }
  if (HOOK_FILE.test(name)) return (await import('./hook-file.ts')).loadHooks(name);
  if (!/\.(ts|mts|js|mjs)$/.test(name)) {
    throw new WavesmithError('probe/unknown', `'${name}' is neither a shipped probe nor a .ts, .js or .hip file.`, {
      hint: `Shipped are ${Object.keys(TOOLS).join(', ')}.`,
    });
  }
  readInput(name);
  const loaded = (await importSource(name)) as { readonly default?: unknown };
  const probe = loaded.default as Partial<ProbeDefinition> | undefined;
  const isProbe =
    typeof probe === 'object' &&
    typeof probe.name === 'string' &&
    typeof probe.state === 'object' &&
    typeof probe.instrument === 'function' &&
    typeof probe.report === 'function';
  if (!isProbe) {
    throw new WavesmithError('probe/definition', `'${name}' does not export a probe as its default.`, {
      file: name,
      hint: 'export default defineProbe({ name, summary, state, instrument, report });',
    });
  }
  return withPlaces(probe as ProbeDefinition, name);
}

async function importSource(file: string): Promise<unknown> {
  const { build } = await import('esbuild');
  const result = await build({
    entryPoints: [resolve(file)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    sourcemap: 'external',
    outdir: 'out',
    logLevel: 'silent',
    plugins: [
      {
        name: 'own-package',
        setup(setup) {
          setup.onResolve({ filter: PACKAGE }, ({ path }) => ({ path, namespace: 'own' }));
          setup.onLoad({ filter: /.*/, namespace: 'own' }, () => ({
            contents: `export const { ${Object.keys(NAMES).join(', ')} } = globalThis[Symbol.for('${GLOBAL}')];`,
          }));
        },
      },
    ],
  }).catch((error: { errors?: { text: string; location: { line: number; column: number } | null }[] }) => {
    const [first] = error.errors ?? [];
    throw new WavesmithError('probe/source', `The probe cannot be read: ${first?.text ?? String(error)}.`, {
      file,
      line: first?.location?.line,
      column: first?.location === null || first === undefined ? undefined : first.location.column + 1,
    });
  });
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-probe-'));
  try {
    const path = join(folder, 'probe.cjs');
    const text = (ending: string): string => result.outputFiles.find((f) => f.path.endsWith(ending))?.text ?? '';
    writeFileSync(path, text('.js'));
    maps.set(file, { path, map: new SourceMap(JSON.parse(text('.js.map'))), source: text('.js') });
    (globalThis as Record<symbol, unknown>)[Symbol.for(GLOBAL)] = NAMES;
    return createRequire(path)(path);
  } catch (error) {
    throw placed(error, file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The probe, its errors told with the line of its own file that they come from. */
function withPlaces(probe: ProbeDefinition, file: string): ProbeDefinition {
  const guard =
    <A extends readonly unknown[], R>(call: (...args: A) => R) =>
    (...args: A): R => {
      try {
        return call(...args);
      } catch (error) {
        throw placed(error, file);
      }
    };
  return {
    ...probe,
    source: maps.get(file)?.source ?? '',
    instrument: guard(probe.instrument.bind(probe)),
    report: guard(probe.report.bind(probe)),
  };
}

/** An error of a probe at the line of its file. */
function placed(error: unknown, file: string): unknown {
  if (!(error instanceof Error)) return error;
  const { path = '', map } = maps.get(file) ?? {};
  const frame = (error.stack ?? '').split('\n').find((line) => line.includes(`${path}:`));
  const [, line, column] = /:(\d+):(\d+)\)?$/.exec(frame?.trim() ?? '') ?? [];
  const found = line === undefined ? undefined : map?.findEntry(Number(line) - 1, Number(column) - 1);
  const original = found !== undefined && 'originalLine' in found ? (found as SourceMapping) : undefined;
  const place = {
    file,
    line: original === undefined ? undefined : original.originalLine + 1,
    column: original === undefined ? undefined : original.originalColumn + 1,
  };
  if (error instanceof WavesmithError) {
    return new WavesmithError(error.code, error.message, { ...place, hint: error.hint, cause: error });
  }
  return new WavesmithError('probe/failed', `The probe's own code failed: ${error.message.replace(/\.$/, '')}.`, {
    ...place,
    cause: error,
  });
}
