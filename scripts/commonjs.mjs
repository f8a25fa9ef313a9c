// The built modules of the command line as scripts, beside the modules: dist/cli.js → dist/cli.cjs, dist/chunks/X.js → X.cjs. Node 20
// keeps the compiled code of scripts only (src/cli/boot). A script has the lines of its module, so it shares the source map.
import { createHash } from 'node:crypto';
import { basename, dirname, join, posix } from 'node:path';

const BANNER = /^import \{ createRequire as __createRequire \}.*/;
const IMPORT = /^import (?:(.*?) from )?"([^"]+)";/;
export const URL_OF_MODULE = '(require("node:url").pathToFileURL(__filename).href)';

/** What stands around a module. A script is read as it is: putting text around it would copy it at every start. */
export const PROLOGUE = '(function (require, module, __filename) {';
export const EPILOGUE = '\n})';

/**
 * A module in the form that esbuild writes as a script whose value is a function of `require`, `module` and `__filename`. `idOf` gives
 * the id that `require` takes for a specifier. The exports are values, so no module may change a variable after it has exported it.
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
  const body = lines
    .join('\n')
    .replaceAll('import.meta.url', () => URL_OF_MODULE)
    .replace(/\bimport\("([^"]+)"\)/g, (_, id) => `Promise.resolve().then(() => require("${idOf(id)}"))`)
    .replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return PROLOGUE + body + EPILOGUE;
}

/** Functions of modules of Node that are slow to load and that most commands never call: they load at the first call. */
const LAZY_FUNCTIONS = new Map([['node:crypto', new Set(['createHash', 'randomBytes'])]]);

/** An import of such functions as one line; undefined for other imports. */
function lazyImport(names, specifier) {
  const functions = LAZY_FUNCTIONS.get(specifier);
  const pairs = /^\{([^}]*)\}$/
    .exec(names ?? '')?.[1]
    .split(',')
    .map((name) => name.trim().split(' as '));
  if (functions === undefined || pairs === undefined || !pairs.every(([name]) => functions.has(name))) return undefined;
  return pairs
    .map(([name, own = name]) => `const ${own} = (...args) => require("${specifier}").${name}(...args);`)
    .join(' ');
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
  const lazy = lazyImport(names, specifier);
  const text = left === undefined ? required : `const ${left} = ${required}`;
  const converted = lazy === undefined ? text.split('\n') : [lazy, ...new Array(end - start).fill('')];
  lines.splice(start, end + 1 - start, ...converted);
  return end;
}

function convertExport(lines, start) {
  lines[start] = 'module.exports = {';
  for (let i = start + 1; lines[i] !== '};'; i++) lines[i] = lines[i].replace(/(\S+) as ([^\s,]+)/, '$2: $1');
}

/** Constant texts from this length on are kept beside the script: V8 would keep them a second time, in the compiled code. */
const LONG_TEXT = 1 << 16;
const LONG_LITERAL = new RegExp(`^(var \\w+ = )\`([^\`\\\\]{${LONG_TEXT},})\`;$`, 'gm');

/** Takes the long texts that are variables of a module out of its script: `require("text:NAME.0")` is the first. It keeps its lines. */
export function withoutLongTexts(script, name) {
  const texts = [];
  const rest = script.replace(LONG_LITERAL, (literal, start, text) => {
    if (text.includes('${')) return literal;
    texts.push(text);
    return `${start}require("text:${name}.${texts.length - 1}");${'\n'.repeat(text.split('\n').length - 1)}`;
  });
  return { rest, texts };
}

/**
 * Scripts and texts by path, where the first line of those that are loaded first ends with a comment with a digest of all: V8's compiled code is kept for
 * one build.
 */
export function withDigest(files, entries) {
  const digest = createHash('sha256');
  for (const [file, text] of [...files].sort()) digest.update(`${basename(file)}\n${text}\n`);
  const build = digest.digest('hex').slice(0, 16);
  const isFirst = (file) => entries.includes(basename(file));
  return new Map(
    [...files].map(([file, text]) => [
      file,
      isFirst(file) ? text.replace(PROLOGUE, (start) => `${start} // ${build}`) : text,
    ]),
  );
}

/** What runs as scripts and comes apart into those of its modules; a thread of the virtual GPU is one script (thread-bundle.mjs). */
const ENTRY = 'cli';

/**
 * The scripts of this and of every module that it can load, by path. `outputs` are those of esbuild's metafile, `modules` its output files.
 */
export function commonJsFiles(outdir, outputs, modules) {
  const textOf = new Map(modules.map(({ path, text }) => [path, text]));
  const idOf = (from) => (specifier) =>
    specifier.startsWith('.') ? `dist:${posix.join(dirname(from), specifier).replace(/\.js$/, '')}` : specifier;
  const seen = new Set();
  /** By name below `outdir`. */
  const files = new Map();
  const add = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    const name = file.replace(/\.js$/, '');
    const { rest, texts } = withoutLongTexts(commonJsOf(textOf.get(join(outdir, file)), idOf(file)), name);
    files.set(`${name}.cjs`, rest);
    for (const [n, text] of texts.entries()) files.set(`${name}.${n}.txt`, text);
    const { imports } = outputs[posix.join(basename(outdir), file)];
    for (const { path, external } of imports) if (!external) add(posix.relative(basename(outdir), path));
  };
  add(`${ENTRY}.js`);
  return new Map([...files].map(([file, text]) => [join(outdir, file), text]));
}
