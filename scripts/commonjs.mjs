// The built modules of the command line as scripts, beside the modules: dist/cli.js → dist/cli.cjs, dist/chunks/X.js → X.cjs. Node 20
// keeps the compiled code of scripts only (src/cli/boot). A script has the lines of its module, so it shares the source map.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { Script } from 'node:vm';

const BANNER = /^import \{ createRequire as __createRequire \}.*/;
const IMPORT = /^import (?:(.*?) from )?"([^"]+)";/;
const URL_OF_MODULE = '(require("node:url").pathToFileURL(__filename).href)';

/**
 * A module in the form that esbuild writes as the body of a function of `require`, `module` and `__filename`. `idOf` gives the id
 * that `require` takes for a specifier. The exports are values, so no module may change a variable after it has exported it.
 * The text is ASCII: esbuild has escaped strings, so what is left stands in comments and regular expressions.
 */
export function commonJsOf(source, idOf) {
  const lines = source.split('\n');
  if (!BANNER.test(lines[0])) throw new Error('a built module without the banner of scripts/build.mjs');
  lines[0] = '';
  for (let i = 1; i < lines.length; i++) {
    if (lines[i].startsWith('import ')) i = convertImport(lines, i, idOf);
    else if (lines[i] === 'export {') convertExport(lines, i);
  }
  return lines
    .join('\n')
    .replaceAll('import.meta.url', () => URL_OF_MODULE)
    .replace(/\bimport\("([^"]+)"\)/g, (_, id) => `Promise.resolve().then(() => require("${idOf(id)}"))`)
    .replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Converts an import statement from line `start` on; returns its last line. */
function convertImport(lines, start, idOf) {
  let end = start;
  while (!lines[end].endsWith(';')) end++;
  const statement = lines.slice(start, end + 1).join('\n');
  const match = new RegExp(IMPORT, 's').exec(statement);
  if (match === null) throw new Error(`an import of another form: ${statement}`);
  const [, names, specifier] = match;
  const required = `require("${idOf(specifier)}");`;
  const left = names?.replace(/^\* as /, '').replace(/ as /g, ': ');
  const text = left === undefined ? required : `const ${left} = ${required}`;
  lines.splice(start, end + 1 - start, ...text.split('\n'));
  return end;
}

function convertExport(lines, start) {
  lines[start] = 'module.exports = {';
  for (let i = start + 1; lines[i] !== '};'; i++) lines[i] = lines[i].replace(/(\S+) as ([^\s,]+)/, '$2: $1');
}

/** Writes a script, if it is not there already: the names of chunks are hashes, so most are from the last build. */
function write(path, text) {
  if (existsSync(path) && readFileSync(path, 'latin1') === text) return;
  new Script(`(function () { ${text}\n})`, { filename: path });
  writeFileSync(`${path}.tmp-${process.pid}`, text);
  renameSync(`${path}.tmp-${process.pid}`, path);
}

/** Writes the scripts of `cli.js` and of every module that it can load. `outputs` are those of esbuild's metafile. */
export function writeCommonJs(outdir, outputs) {
  const idOf = (from) => (specifier) =>
    specifier.startsWith('.') ? `dist:${posix.join(dirname(from), specifier).replace(/\.js$/, '')}` : specifier;
  const texts = new Map();
  const add = (file) => {
    if (texts.has(file)) return;
    texts.set(file, commonJsOf(readFileSync(join(outdir, file), 'utf8'), idOf(file)));
    const { imports } = outputs[posix.join(basename(outdir), file)];
    for (const { path, external } of imports) if (!external) add(posix.relative(basename(outdir), path));
  };
  add('cli.js');
  const digest = createHash('sha256');
  for (const [file, text] of [...texts].sort()) digest.update(`${file}\n${text}\n`);
  texts.set('cli.js', `// ${digest.digest('hex').slice(0, 16)}${texts.get('cli.js')}`);
  for (const [file, text] of texts) write(join(outdir, file.replace(/\.js$/, '.cjs')), text);
  return [...texts.keys()].map((file) => posix.join(basename(outdir), file.replace(/\.js$/, '.cjs')));
}
