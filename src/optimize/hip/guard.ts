// What a change of a HIP source must leave as it was: the signature of the kernel as clang's AST has it, and everything that the host compiles, as
// the preprocessor gives it. So a change is of kernels and device functions, and of nothing else.
import type { CommandResult } from '../command.ts';
import { type SourceItems, sourceItems } from './items.ts';
import type { CompilerCall } from './project.ts';

/** What is compared of a source. */
export interface SourceFacts extends SourceItems {
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
    if (signature !== undefined) return { ...sourceItems(text.stdout, source), signature };
  }
  return { ...sourceItems(text.stdout, source), signature: undefined };
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

const RESTRICT = / ?\b__restrict\b/g;

interface AstNode {
  readonly kind?: string;
  readonly mangledName?: string;
  readonly type?: { readonly qualType?: string; readonly desugaredQualType?: string };
  readonly inner?: readonly AstNode[];
}

/** The type and parameters of the kernel in a dump of several trees. That pointers do not alias is a promise of the kernel, and no part of how it is called. */
function signatureOf(dump: string, kernel: string): string | undefined {
  const visit = (node: AstNode): string | undefined => {
    if (node.kind === 'FunctionDecl' && node.mangledName === kernel) {
      const parameters = (node.inner ?? []).filter((n) => n.kind === 'ParmVarDecl').map(({ type }) => type);
      return JSON.stringify([node.type, parameters]).replace(RESTRICT, '');
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

/** Numbers that kernels may be given names for. */
const CONSTANT =
  /^(?:static |inline )*constexpr (?:static |unsigned |const )*(?:int|unsigned|long|size_t|float|bool|double) (\w+) = [^;(){}]*;$/;
/** Types that kernels may be given: one name, and nothing that runs for the host or is found by it without the name. */
const TYPE =
  /^(?:template <[^;{}]*> )?(?:typedef [^;(){}]*?\b(\w+)(?: __attribute__\(\([\w ,()]*\)\))*;|using (\w+) = [^;{}]*;|(?:struct|union) (\w+) \{.*\};)$/;
const RUNS = /\bfriend\b|\bthread_local\b|\bstatic (?!constexpr|__attribute__\(\(device\)\))|\binline static\b/;

const isNamed = (name: string, items: readonly string[]): boolean => items.some((item) => wordOf(name).test(item));
const wordOf = (name: string): RegExp => new RegExp(`\\b${name}\\b`);

/** Whether an added declaration only gives a number or a type a name, one that the host does not use. */
function isNewName(item: string, host: readonly string[]): boolean {
  const type = RUNS.test(item) ? null : TYPE.exec(item);
  const name = CONSTANT.exec(item)?.[1] ?? type?.slice(1).find((found) => found !== undefined);
  return name !== undefined && !isNamed(name, host);
}

/** Why a changed source is not to be built; undefined when it may. */
export function guardBreak(before: SourceFacts, after: SourceFacts): string | undefined {
  if (before.signature !== after.signature) return 'The signature of the kernel is another one.';
  let at = 0;
  for (const item of after.host) {
    if (item === before.host[at]) at++;
    else if (!isNewName(item, before.host)) {
      const was = before.host[at];
      return `Code of the host was changed, which is not for a kernel's change: '${item.slice(0, 160)}'${was === undefined ? '' : ` stands where '${was.slice(0, 160)}' stood`}.`;
    }
  }
  const lost = before.host[at];
  if (lost !== undefined) return `Code of the host is gone: '${lost.slice(0, 160)}'.`;
  if (before.included !== after.included)
    return 'Code of the host was changed: what comes from other files, by #include or as #line says, is another text.';
  const hiding = [...after.device].find((name) => !before.device.has(name) && isNamed(name, before.host));
  if (hiding !== undefined)
    return `Code of the host could mean something else: it uses the name '${hiding}', which now is the device's.`;
  const pragma = [...after.pragmas].find((words) => !before.pragmas.has(words) && !KERNEL_PRAGMA.test(words));
  return pragma === undefined ? undefined : `Code of the host could mean something else behind '#pragma ${pragma}'.`;
}

/** Pragmas that say something of the loop or block that they stand in. */
const KERNEL_PRAGMA =
  /^(?:unroll|nounroll|unroll_and_jam|nounroll_and_jam|STDC|clang (?:loop|fp|diagnostic)|GCC (?:unroll|ivdep|diagnostic))\b/;
