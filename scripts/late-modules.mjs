// Which modules a thread of the virtual GPU loads only when it needs them: a plugin of esbuild for its bundle. A thread is handed what its device has
// compiled, and mostly needs neither tables of instructions, nor the compiler, nor the interpreter, whose making would keep it from its first workgroup.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What modules below src/device import late, all of it functions: it loads when one of them is first called. */
export const LATE_IMPORTS = new Map(
  Object.entries({
    'sim/wasm/engine.ts': ['./make-unit.ts'],
    'sim/state/memory.ts': ['../wasm/bulk.ts'],
    'sim/interpreter/loaded-code.ts': [
      '../../../isa/index.ts',
      '../../../isa/operand.ts',
      '../../../isa/semantics/index.ts',
      './images.ts',
      './matrix.ts',
      './memory-access.ts',
      './scalar.ts',
      './scale-convert.ts',
      './structural.ts',
      './typed-buffers.ts',
      './vector.ts',
    ],
    'sim/dispatch/spin.ts': ['../../../isa/index.ts', '../../../isa/semantics/index.ts', './reachable.ts'],
    'node/module-cache.ts': ['node:crypto'],
    'node/sim-worker.ts': ['./v8-flags.ts'],
  }).map(([importer, specifiers]) => [join(root, 'src', 'device', importer), specifiers]),
);

/** The names that a module imports from another, types left out. */
export function namesFrom(importer, specifier) {
  const imports = [...readFileSync(importer, 'utf8').matchAll(/^import \{([^}]*)\} from '([^']+)';/gm)];
  const found = imports.find(([, , from]) => from === specifier);
  if (found === undefined) throw new Error(`${importer} does not import ${specifier}`);
  const names = found[1].split(',').map((name) => name.trim());
  return names.filter((name) => name !== '' && !name.startsWith('type '));
}

export const lateModules = {
  name: 'late-modules',
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /./ }, ({ path, importer, kind }) => {
      if (kind !== 'import-statement' || LATE_IMPORTS.get(importer)?.includes(path) !== true) return undefined;
      return { path: `${path} of ${importer}`, namespace: 'late', pluginData: { path, importer } };
    });
    onLoad({ filter: /./, namespace: 'late' }, ({ pluginData: { path, importer } }) => {
      const functions = namesFrom(importer, path).map(
        (name) => `export function ${name}(...args) { real ??= require('${path}'); return real.${name}(...args); }`,
      );
      return { contents: ['let real;', ...functions].join('\n'), resolveDir: dirname(importer) };
    });
  },
};
