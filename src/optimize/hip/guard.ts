// What a change of a HIP source must leave as it was: the signature of the kernel as clang's AST has it, and everything that the host compiles, as
// the preprocessor gives it. So a change is of kernels and device functions, and of nothing else.
import type { CommandResult } from '../command.ts';
import type { CompilerCall } from './project.ts';

/** What is compared of a source. */
export interface SourceFacts {
  /** Declarations for the host, in order, and what is included. */
  readonly host: readonly string[];
  /** The kernel's type and parameters. */
  readonly signature: string | undefined;
}

/** Runs a compiler in the folder where it was called. */
export type Compile = (argv: readonly string[], folder: string) => Promise<CommandResult>;

/** Flags that say where the result goes, and those that take the next argument with them. */
const OUTPUT = new Set(['-c', '-S', '-E', '-MD', '-MMD', '-MP', '-M', '-MM']);
const OUTPUT_WITH_VALUE = new Set(['-o', '-MF', '-MT', '-MQ']);

function inputFlags(args: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (OUTPUT_WITH_VALUE.has(arg)) i++;
    else if (!OUTPUT.has(arg) && !/^-M[FTQ]./.test(arg)) kept.push(arg);
  }
  return kept;
}

/** Looks at a source through its compiler; a string says why it cannot. `kernel` is the mangled name. */
export async function factsOf(
  { folder, program, args }: CompilerCall,
  source: string,
  kernel: string,
  compile: Compile,
): Promise<SourceFacts | string> {
  const flags = inputFlags(args);
  // Lines move when kernels change; that a check prints its line is no change of the host.
  const plain = ['-D__LINE__=0', '-Wno-builtin-macro-redefined', '-Wno-unused-command-line-argument'];
  const text = await compile([program, ...flags, '--cuda-host-only', '-E', ...plain], folder);
  if (text.status !== 0) return text.stderr;
  for (const name of namesIn(kernel)) {
    const filter = ['-fsyntax-only', '-Xclang', '-ast-dump=json', '-Xclang', `-ast-dump-filter=${name}`];
    const tree = await compile(
      [program, ...flags, '--cuda-device-only', ...filter, '-Wno-unused-command-line-argument'],
      folder,
    );
    if (tree.status !== 0) return tree.stderr;
    const signature = signatureOf(tree.stdout, kernel);
    if (signature !== undefined) return { host: hostItems(text.stdout, source), signature };
  }
  return { host: hostItems(text.stdout, source), signature: undefined };
}

/** Identifiers in a mangled name, the last one first; a name that is not mangled is its own. */
function namesIn(mangled: string): string[] {
  if (!mangled.startsWith('_Z')) return [mangled];
  const names: string[] = [];
  for (let at = 2; at < mangled.length; at++) {
    const length = /^[1-9]\d*/.exec(mangled.slice(at))?.[0];
    if (length === undefined) continue;
    at += length.length;
    names.push(mangled.slice(at, at + Number(length)));
    at += Number(length) - 1;
  }
  return names.reverse();
}

interface AstNode {
  readonly kind?: string;
  readonly mangledName?: string;
  readonly type?: { readonly qualType?: string; readonly desugaredQualType?: string };
  readonly inner?: readonly AstNode[];
}

/** The type and parameters of the kernel in a dump of several trees. */
function signatureOf(dump: string, kernel: string): string | undefined {
  const visit = (node: AstNode): string | undefined => {
    if (node.kind === 'FunctionDecl' && node.mangledName === kernel) {
      const parameters = (node.inner ?? []).filter((n) => n.kind === 'ParmVarDecl').map(({ type }) => type);
      return JSON.stringify([node.type, parameters]);
    }
    for (const inner of node.inner ?? []) {
      const found = visit(inner);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  for (const part of dump.split(/^(?=\{$)/m)) {
    if (!part.startsWith('{')) continue;
    const found = visit(JSON.parse(part.slice(0, part.lastIndexOf('}') + 1)) as AstNode);
    if (found !== undefined) return found;
  }
  return undefined;
}

const MARKER = /^# \d+ "([^"]*)"([ \d]*)$/;

/** Declarations of the source's own lines that the host compiles, and files that it includes itself. */
export function hostItems(preprocessed: string, source: string): string[] {
  const isSource = (file: string): boolean => file === source || file.endsWith(`/${source}`);
  const own: string[] = [];
  const included: string[] = [];
  let file = '';
  for (const line of preprocessed.split('\n')) {
    const [, name, flags = ''] = MARKER.exec(line) ?? [];
    if (name === undefined) {
      if (isSource(file)) own.push(line);
      continue;
    }
    if (isSource(file) && flags.includes('1')) included.push(`#include ${name}`);
    file = name;
  }
  return [...included, ...itemsOf(own.join('\n')).filter((item) => !isDevice(item))];
}

const SCOPE = /(?:^|\s)(?:(?:inline\s+)?namespace\b[^;(){}]*|extern\s*"C(?:\+\+)?"\s*)$/;
const LITERAL = /^(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/;

/** Declarations of a text, one by one, those in namespaces too. */
function itemsOf(text: string): string[] {
  const items: string[] = [];
  let start = 0;
  const push = (end: number): void => {
    const item = text.slice(start, end).replace(/\s+/g, ' ').trim();
    if (item !== '') items.push(item);
    start = end;
  };
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text[at] as string;
    if (c === '"' || c === "'") {
      at += (LITERAL.exec(text.slice(at, at + 65536))?.[0].length ?? 1) - 1;
    } else if (c === '#' && depth === 0 && text.slice(start, at).trim() === '') {
      const end = text.indexOf('\n', at);
      at = end < 0 ? text.length : end;
      push(at);
    } else if (c === '(' || c === '[') depth++;
    else if (c === ')' || c === ']') depth--;
    else if (c === '{') {
      if (depth === 0 && SCOPE.test(text.slice(start, at))) push(at + 1);
      else depth++;
    } else if (c === '}') {
      if (depth > 0) depth--;
      if (depth > 0) continue;
      // The end of a function or scope; of a type or an initializer the semicolon follows.
      const rest = /^\s*[;=,*&\w]/.exec(text.slice(at + 1, at + 200))?.[0].trim();
      const isType = /^[^(]*\b(?:struct|class|union|enum)\b[^(]*\{/.test(text.slice(start, at)) || rest === ';';
      if (!isType) push(at + 1);
    } else if (c === ';' && depth === 0) push(at + 1);
  }
  push(text.length);
  return items;
}

const DEVICE = /__attribute__\(\((?:global|device|shared|constant|managed)\)\)/;

/** Whether only the device has a declaration. */
function isDevice(item: string): boolean {
  const head = item.split('{')[0] ?? '';
  return DEVICE.test(head) && !/__attribute__\(\(host\)\)/.test(head);
}

/** Numbers that kernels may be given names for. */
const CONSTANT =
  /^(?:static |inline )*constexpr (?:static |unsigned |const )*(?:int|unsigned|long|size_t|float|bool|double) (\w+) = [^;(){}]*;$/;

/** Whether an added declaration only gives a number a name, one that the host does not use. */
function isNewConstant(item: string, host: readonly string[]): boolean {
  const name = CONSTANT.exec(item)?.[1];
  return name !== undefined && !host.some((other) => new RegExp(`\\b${name}\\b`).test(other));
}

/** Why a changed source is not to be built; undefined when it may. */
export function guardBreak(before: SourceFacts, after: SourceFacts): string | undefined {
  if (before.signature !== after.signature) return 'The signature of the kernel is another one.';
  let at = 0;
  for (const item of after.host) {
    if (item === before.host[at]) at++;
    else if (!isNewConstant(item, before.host)) {
      const was = before.host[at];
      return `Code of the host was changed, which is not for a kernel's change: '${item.slice(0, 160)}'${was === undefined ? '' : ` stands where '${was.slice(0, 160)}' stood`}.`;
    }
  }
  const lost = before.host[at];
  return lost === undefined ? undefined : `Code of the host is gone: '${lost.slice(0, 160)}'.`;
}
