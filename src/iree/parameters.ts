// Parameters that live outside a module (.irpa, .safetensors, .gguf): what the module wants against what the archives hold, before
// anything runs.
import { existsSync } from 'node:fs';
import { WavesmithError } from '../base/index.ts';
import { needsParameters, readParameters, readVmfb, type VmfbParameter } from '../codeobject/index.ts';
import { requireIreeTool, runTool } from './tools.ts';

/** The `--parameters=` flags for iree-run-module; archives that lack what the module loads are `hijack/parameters`. */
export async function parameterFlags(module: Uint8Array, given: readonly string[] | undefined): Promise<string[]> {
  const vmfb = readVmfb(module);
  const wanted = needsParameters(vmfb) ? readParameters(vmfb) : [];
  const archives = given ?? [];
  const scopes = [...new Set(wanted.map((p) => p.scope))];
  if (archives.length === 0) {
    if (!needsParameters(vmfb)) return [];
    throw new WavesmithError(
      'hijack/no-parameters',
      `The module's parameters live outside it: ${listOf(wanted.map(nameOf)) || 'their names are not constants'}.`,
      {
        hint: `Give --parameters=${scopes[0] ? `${scopes[0]}=` : ''}FILE (.irpa, .safetensors or .gguf); repeat it for several files.`,
      },
    );
  }
  for (const archive of archives) {
    const file = fileOf(archive);
    if (existsSync(file)) continue;
    throw new WavesmithError('io/read', `Cannot read the parameters '${file}': no such file.`, {
      file,
      hint: 'Check the path.',
    });
  }
  const flags = archives.map((archive) => `--parameters=${archive}`);
  const held = await readArchives(flags);
  for (const parameter of wanted) {
    const scope = held.get(parameter.scope);
    const bytes = scope?.get(parameter.key);
    if (bytes === undefined) {
      const has =
        scope === undefined ? [...held.keys()].map((s) => `scope '${s}'`) : [...scope.keys()].map((k) => `'${k}'`);
      throw new WavesmithError(
        'hijack/parameters',
        `The module loads parameter ${nameOf(parameter)}, and the archives hold ${listOf(has) || 'nothing'}.`,
        { hint: 'Names and scope must be those of the compilation: --parameters=SCOPE=FILE.' },
      );
    }
    if (bytes >= parameter.bytes) continue;
    throw new WavesmithError(
      'hijack/parameters',
      `The module loads ${parameter.bytes} bytes of parameter ${nameOf(parameter)}, and the archive holds ${bytes}.`,
      { hint: 'The archive is of a model of another shape or type.' },
    );
  }
  return flags;
}

const fileOf = (archive: string): string => archive.replace(/^[^=/]*=/, '');
const nameOf = ({ scope, key }: VmfbParameter): string => (scope === '' ? `'${key}'` : `'${scope}::${key}'`);

function listOf(names: readonly string[]): string {
  return names.length > 4 ? `${names.slice(0, 4).join(', ')} and ${names.length - 4} more` : names.join(', ');
}

/** Bytes by scope and key, as iree-dump-parameters lists them. */
async function readArchives(flags: readonly string[]): Promise<Map<string, Map<string, number>>> {
  const tool = requireIreeTool('iree-dump-parameters');
  const run = await runTool(tool.path, flags, { timeout: 60_000 });
  if (run.status !== 0) {
    const first = run.stderr.split('\n').find((line) => line.trim() !== '') ?? `it ended with status ${run.status}`;
    throw new WavesmithError('hijack/parameters', `The parameters cannot be read: ${first.trim()}`, {
      hint: 'IREE reads .irpa, .safetensors and .gguf files; iree-convert-parameters makes the first of the others.',
    });
  }
  const scopes = new Map<string, Map<string, number>>();
  let keys = new Map<string, number>();
  for (const line of run.stdout.split('\n')) {
    const scope = /^\/\/ (?:Parameter scope `(.*)`|Unnamed|Default|Parameter scope)/.exec(line);
    if (scope !== null) {
      keys = scopes.get(scope[1] ?? '') ?? new Map<string, number>();
      scopes.set(scope[1] ?? '', keys);
    }
    const entry = /^[^`|]*\|[^`|]*\|\s*(\d+)\s*\|\s*`(.*)`\s*$/.exec(line);
    if (entry !== null) keys.set(entry[2], Number(entry[1]));
  }
  return scopes;
}
