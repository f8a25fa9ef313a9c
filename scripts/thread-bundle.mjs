// The script of a thread of the virtual GPU: dist/sim-worker.cjs, in the form of those of commonjs.mjs. It is one script with only what a thread runs, of
// which it makes at its start what its first workgroup needs (late-modules.mjs). Long texts are files beside it, read when they are needed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EPILOGUE, PROLOGUE, URL_OF_MODULE } from './commonjs.mjs';
import { lateModules } from './late-modules.mjs';

const NAME = 'sim-worker';

/** Modules that are one long text, and the name of the variable with it. */
const TEXT_MODULE = /\/isa\/generated\/(?:rows|shapes)\.ts$/;
const TEXT = /^export const (\w+) = `([^`\\]*)`;$/m;

/** Has these modules ask for their texts; `texts` gets the text of each name. */
const textsApart = (texts) => ({
  name: 'texts-apart',
  setup: ({ onLoad }) =>
    onLoad({ filter: TEXT_MODULE }, ({ path }) => {
      const [, variable, text] = TEXT.exec(readFileSync(path, 'utf8')) ?? [];
      if (text === undefined || text.includes('${')) throw new Error(`${path} is not one long text`);
      const name = `${NAME}.${variable.toLowerCase()}`;
      texts.set(name, text);
      return { contents: `export const ${variable} = require("text:${name}");` };
    }),
});

/** The files of the script below a folder, by path: it, its map and its texts. `define` is what the build puts in. */
export async function threadFiles(root, outdir, define) {
  const { build } = await import('esbuild');
  const texts = new Map();
  const { outputFiles } = await build({
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    entryPoints: [join(root, 'src/device/node/sim-worker.ts')],
    outfile: join(outdir, `${NAME}.js`),
    external: ['text:*'],
    plugins: [lateModules, textsApart(texts)],
    banner: { js: PROLOGUE },
    footer: { js: EPILOGUE.trim() },
    define: { ...define, 'import.meta.url': 'urlOfScript' },
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: 'warning',
    // Without the sources: the maps of the modules have them.
    sourcemap: true,
    sourcesContent: false,
    write: false,
  });
  const [map, code] = outputFiles.sort((a, b) => b.path.length - a.path.length);
  const script = code.text.replaceAll('urlOfScript', URL_OF_MODULE).replace(/[\u0080-\uffff]/g, asciiOf);
  const files = new Map([...texts].map(([name, text]) => [`${name}.txt`, text]));
  files.set(`${NAME}.cjs`, script);
  files.set(`${NAME}.js.map`, map.text);
  return new Map([...files].map(([file, text]) => [join(outdir, file), text]));
}

const asciiOf = (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
