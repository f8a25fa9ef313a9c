// What a folder of hip-tests asks to be built: its own CMakeLists.txt, evaluated by cmake with commands that only write down their arguments.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';

export interface Settings {
  /** The suite's `catch` folder. */
  readonly suite: string;
  /** A ROCm folder of the HIP version: `include/hip`, `bin/hipcc`. */
  readonly headers: string;
  /** Where everything is built. */
  readonly work: string;
  readonly arch: string;
  /** Folder of this tool. */
  readonly tools: string;
  readonly hipcc: string;
}

/** One Catch2 executable of the suite. */
export interface TestProgram {
  readonly name: string;
  /** Sources with test cases that exist, absolute. */
  readonly sources: readonly string[];
  /** Sources that it names and that are not there. */
  readonly absent: readonly string[];
  readonly shared: readonly string[];
  readonly options: readonly string[];
  readonly libraries: readonly string[];
}
export interface FolderPlan {
  readonly folder: string;
  readonly binary: string;
  readonly tests: readonly TestProgram[];
  /** Programs that tests start: name and sources. */
  readonly programs: readonly {
    readonly name: string;
    readonly sources: readonly string[];
    readonly isLibrary: boolean;
  }[];
  /** Command lines that make code objects and other files. */
  readonly commands: readonly (readonly string[])[];
  /** Object files by the name of the library that the folder makes of them (`add_library(NAME OBJECT IMPORTED)`). */
  readonly objects: ReadonlyMap<string, string>;
  /** Options of single sources. */
  readonly sourceOptions: ReadonlyMap<string, readonly string[]>;
  /** Folders with headers of packages that the folder asks for, and packages that are not there: it leaves out what needs them. */
  readonly headers: readonly string[];
  readonly lacks: readonly string[];
  /** What cmake could not evaluate. */
  readonly problem?: string;
}

const KEYWORDS = new Set([
  'NAME',
  'TEST_SRC',
  'TEST_TARGET_NAME',
  'PLATFORM',
  'COMPILE_OPTIONS',
  'LINKER_LIBS',
  'COMMON_SHARED_SRC',
  'PROPERTY',
]);

/** The words behind each keyword. */
function byKeyword(words: readonly string[], keywords: ReadonlySet<string>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let current = '';
  for (const word of words) {
    if (keywords.has(word)) current = word;
    else found.set(current, [...(found.get(current) ?? []), ...word.split(';').filter((w) => w !== '')]);
  }
  return found;
}

const words = (options: readonly string[]): string[] => options.flatMap((o) => o.split(' ')).filter((o) => o !== '');

/** Splits `COMMAND a b COMMAND c DEPENDS d` into its command lines. */
function commandLines(fields: readonly string[]): string[][] {
  const lines: string[][] = [];
  let current: string[] | undefined;
  for (const field of fields) {
    if (field === 'COMMAND') {
      current = [];
      lines.push(current);
    } else if (['DEPENDS', 'OUTPUT', 'ALL', 'BYPRODUCTS', 'WORKING_DIRECTORY', 'COMMENT', 'VERBATIM'].includes(field)) {
      current = undefined;
    } else current?.push(field);
  }
  return lines;
}

/** A folder of the suite: one of `unit`, or one beside it (`multiproc`, `stress/memory`). */
export function sourceFolder(suite: string, folder: string): string {
  const unit = join(suite, 'unit', folder);
  return existsSync(unit) ? unit : join(suite, folder);
}

/** Reads the plan of one folder. */
export function planFolder(settings: Settings, folder: string): FolderPlan {
  const source = sourceFolder(settings.suite, folder);
  // Tests look for files of the suite beside the `build` in their folder's path.
  const binary = join(settings.work, 'build', relative(settings.suite, source));
  mkdirSync(binary, { recursive: true });
  const out = join(binary, 'plan.tsv');
  const defines = {
    FOLDER: source,
    BINARY: binary,
    COMPILER: settings.hipcc,
    HEADERS: settings.headers,
    ARCH: settings.arch,
    OUT: out,
  };
  const args = [
    ...Object.entries(defines).map(([name, value]) => `-D${name}=${value}`),
    '-Wno-dev',
    '-P',
    join(settings.tools, 'evaluate.cmake'),
  ];
  const { status, stderr } = spawnSync('cmake', args, { cwd: binary, encoding: 'utf8' });
  const tests: TestProgram[] = [];
  const programs: { name: string; sources: string[]; isLibrary: boolean }[] = [];
  const commands: string[][] = [];
  const objects = new Map<string, string>();
  const sourceOptions = new Map<string, string[]>();
  const headers: string[] = [];
  const lacks: string[] = [];
  const absolute = (name: string): string => (isAbsolute(name) ? name : join(source, name));
  for (const line of readFileSync(out, 'utf8').split('\n')) {
    const [kind, ...fields] = line.split('\t');
    if (kind === 'tests') {
      const by = byKeyword(fields, KEYWORDS);
      const all = (by.get('TEST_SRC') ?? []).map(absolute);
      tests.push({
        name: by.get('NAME')?.[0] ?? 'tests',
        sources: all.filter((file) => existsSync(file)),
        absent: all.filter((file) => !existsSync(file)),
        shared: (by.get('COMMON_SHARED_SRC') ?? []).map(absolute),
        options: words(by.get('COMPILE_OPTIONS') ?? []),
        libraries: words(by.get('LINKER_LIBS') ?? []),
      });
    } else if (kind === 'program' || kind === 'library') {
      const [name = '', ...rest] = fields;
      const sources = rest.filter((f) => /\.(cc|cpp)$/.test(f)).map(absolute);
      if (sources.length > 0 && sources.every((f) => existsSync(f))) {
        programs.push({ name, sources, isLibrary: kind === 'library' });
      }
    } else if (kind === 'property') {
      const [scope, name = ''] = fields;
      const file = fields[fields.indexOf('IMPORTED_OBJECTS') + 1];
      if (scope === 'TARGET' && fields.includes('IMPORTED_OBJECTS') && file !== undefined) objects.set(name, file);
    } else if (kind === 'command') commands.push(...commandLines(fields));
    else if (kind === 'headers') headers.push(...fields);
    else if (kind === 'lacks') lacks.push(...fields);
    else if (kind === 'source') {
      const at = fields.indexOf('PROPERTIES');
      const options =
        fields[at + 1] === 'COMPILE_FLAGS' || fields[at + 1] === 'COMPILE_OPTIONS' ? fields.slice(at + 2) : [];
      for (const name of fields.slice(0, at)) sourceOptions.set(absolute(name), words(options));
    }
  }
  return {
    folder,
    binary,
    tests,
    programs,
    commands,
    objects,
    sourceOptions,
    headers,
    lacks,
    ...(status === 0 ? {} : { problem: stderr.trim().split('\n').slice(0, 6).join(' ') }),
  };
}
