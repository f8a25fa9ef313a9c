// What IREE itself records about each dispatch, read from its text dumps (`--dump-compilation-phases-to`): the HAL phase
// has `hal.command_buffer.dispatch` (grid, constants, binding ranges), the executable-sources phase has the bindings'
// `hal.interface.binding.subspan` (element types, shapes, access). Ops: iree/compiler/Dialect/HAL/IR/HALOps.td.

/** A tensor inside a binding. */
export interface BindingTensor {
  /** Byte offset inside the binding; null where the compiler left it to run time. */
  readonly offset: number | null;
  /** MLIR element type: `f16`, `bf16`, `f8E4M3FNUZ`, `i32`, `i1`, … */
  readonly elementType: string;
  /** Dimensions; null for a dynamic one. */
  readonly shape: readonly (number | null)[];
  readonly access: 'read' | 'write' | 'readwrite';
}

/** Where a binding's bytes come from at one dispatch. Equal `buffer` means the same underlying buffer. */
export interface BindingRange {
  readonly buffer: string;
  /** Byte offset in that buffer and length; null where only known at run time. */
  readonly offset: number | null;
  readonly length: number | null;
}

/** One `hal.command_buffer.dispatch`. */
export interface DispatchSite {
  /** Grid in workgroups; null where it is only known at run time. */
  readonly grid: readonly [number, number, number] | null;
  /** The 32-bit constants after the bindings; null where only known at run time. */
  readonly constants: readonly (number | null)[];
  readonly bindings: readonly BindingRange[];
}

/** The record of one kernel. */
export interface KernelRecord {
  /** The executable the kernel belonged to before linking: the name `--iree-hal-substitute-executable-object` wants. */
  readonly executable: string | null;
  /** Tensors by binding number. */
  readonly bindings: readonly (readonly BindingTensor[])[];
  readonly dispatches: readonly DispatchSite[];
}

const SYMBOL = String.raw`@([\w.$-]+|"(?:[^"\\]|\\.)*")`;
const symbolName = (text: string): string => (text.startsWith('"') ? text.slice(1, -1) : text);

const CONSTANT = /^\s*%([\w$.-]+) = (?:arith|llvm\.mlir)\.constant[( ]\s*(-?\d+|true|false)\s*(?::|$)/;
const SCOPE = /^\s*(?:util\.func|util\.initializer|func\.func)\b/;
const FUNCTION = new RegExp(`^\\s*func\\.func (?:public |private )?${SYMBOL}\\(`);
const EXECUTABLE = new RegExp(`^\\s*hal\\.executable (?:public |private )?${SYMBOL} \\{`);
const SUBSPAN = /hal\.interface\.binding\.subspan\b.*\bbinding\((\d+)\).*?\boffset\(%([\w$.-]+)\).* : (\S.*)$/;
const SUBSPAN_WITHOUT_OFFSET = /hal\.interface\.binding\.subspan\b.*\bbinding\((\d+)\)(?!.*\boffset\().* : (\S.*)$/;
const TYPED = /(?:<(readonly|writeonly|readwrite):)?(?:tensor|memref)<((?:[\d?]+x)*)([\w]+)[,>]/;
const LOOKUP = new RegExp(`^\\s*%([\\w$.-]+) = hal\\.executable\\.[\\w.]+ .*${SYMBOL}::${SYMBOL}::${SYMBOL}`);
const DISPATCH = /^\s*hal\.command_buffer\.dispatch<.*\[%([\w$.-]+)\] workgroups\(\[([^\]]*)\]\)/;
const DISPATCH_BY_SYMBOL = new RegExp(
  `^\\s*hal\\.command_buffer\\.dispatch\\.symbol<.*target\\(${SYMBOL}::${SYMBOL}::${SYMBOL}\\) workgroups\\(\\[([^\\]]*)\\]\\)`,
);
const CONSTANTS = /\bconstants\(\[([^\]]*)\]\)/;
const RANGE = /^\s*\((%[\w$.-]+) : [^)]*\)\[%([\w$.-]+), %([\w$.-]+)\]/;

/** Reads the two phase dumps into one record per kernel (export name). */
export function readKernelRecords(sourcesText: string, halText: string): Map<string, KernelRecord> {
  const sources = readSources(sourcesText);
  const sites = readSites(halText);
  const records = new Map<string, KernelRecord>();
  for (const name of new Set([...sources.keys(), ...sites.keys()])) {
    const source = sources.get(name);
    records.set(name, {
      executable: source?.executable ?? null,
      bindings: source?.bindings ?? [],
      dispatches: distinct(sites.get(name) ?? []),
    });
  }
  return records;
}

function distinct(sites: readonly DispatchSite[]): DispatchSite[] {
  return [...new Map(sites.map((site) => [JSON.stringify(site), site])).values()];
}

function readSources(text: string): Map<string, { executable: string | null; bindings: BindingTensor[][] }> {
  const kernels = new Map<string, { executable: string | null; bindings: BindingTensor[][] }>();
  let executable: string | null = null;
  let bindings: BindingTensor[][] | undefined;
  const constants = new Map<string, number>();
  for (const line of text.split('\n')) {
    const opened = EXECUTABLE.exec(line);
    if (opened !== null) executable = symbolName(opened[1]);
    if (SCOPE.test(line)) {
      constants.clear();
      bindings = undefined;
      const name = FUNCTION.exec(line)?.[1];
      if (name !== undefined && executable !== null) {
        bindings = [];
        kernels.set(symbolName(name), { executable, bindings });
      }
    }
    readConstant(line, constants);
    if (bindings === undefined) continue;
    const subspan = SUBSPAN.exec(line) ?? withoutOffset(line);
    if (subspan === null) continue;
    const typed = TYPED.exec(subspan[3]);
    if (typed === null) continue;
    const index = Number(subspan[1]);
    while (bindings.length <= index) bindings.push([]);
    bindings[index].push({
      offset: subspan[2] === '' ? 0 : (constants.get(subspan[2]) ?? null),
      elementType: typed[3],
      shape: [...typed[2].matchAll(/(\d+|\?)x/g)].map((d) => (d[1] === '?' ? null : Number(d[1]))),
      access: typed[1] === 'readonly' ? 'read' : typed[1] === 'writeonly' ? 'write' : 'readwrite',
    });
  }
  // Functions called by a kernel are no kernels: they have no bindings of their own.
  for (const [name, kernel] of kernels) if (kernel.bindings.length === 0) kernels.delete(name);
  return kernels;
}

function withoutOffset(line: string): [string, string, string, string] | null {
  const match = SUBSPAN_WITHOUT_OFFSET.exec(line);
  return match === null ? null : [match[0], match[1], '', match[2]];
}

function readConstant(line: string, constants: Map<string, number>): void {
  const match = CONSTANT.exec(line);
  if (match === null) return;
  constants.set(match[1], match[2] === 'true' ? 1 : match[2] === 'false' ? 0 : Number(match[2]));
}

function readSites(text: string): Map<string, DispatchSite[]> {
  const sites = new Map<string, DispatchSite[]>();
  const constants = new Map<string, number>();
  const ordinals = new Map<string, string>();
  const values = (list: string): (number | null)[] =>
    list
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map((item) => constants.get(item.replace(/^%/, '')) ?? null);

  const lines = text.split('\n');
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i];
    if (SCOPE.test(line)) {
      constants.clear();
      ordinals.clear();
    }
    readConstant(line, constants);
    const lookup = LOOKUP.exec(line);
    if (lookup !== null) ordinals.set(lookup[1], symbolName(lookup[4]));
    const bySymbol = DISPATCH_BY_SYMBOL.exec(line);
    const byOrdinal = bySymbol === null ? DISPATCH.exec(line) : null;
    if (bySymbol === null && byOrdinal === null) continue;
    const kernel = bySymbol === null ? ordinals.get(byOrdinal![1]) : symbolName(bySymbol[3]);
    if (kernel === undefined) continue;
    const grid = values(bySymbol === null ? byOrdinal![2] : bySymbol[4]);
    const bindings: BindingRange[] = [];
    if (line.trimEnd().endsWith('bindings([')) {
      while (i + 1 < lines.length && !lines[i + 1].trimStart().startsWith('])')) {
        const range = RANGE.exec(lines[++i]);
        if (range === null) continue;
        bindings.push({
          // A slot of the binding table is named by its number; anything else by its value in this function.
          buffer: constants.has(range[1].slice(1)) ? `slot ${constants.get(range[1].slice(1))}` : range[1],
          offset: constants.get(range[2]) ?? null,
          length: constants.get(range[3]) ?? null,
        });
      }
    }
    const known = grid.length === 3 && grid.every((n) => n !== null);
    const list = sites.get(kernel) ?? [];
    list.push({
      grid: known ? (grid as [number, number, number]) : null,
      constants: values(CONSTANTS.exec(line)?.[1] ?? ''),
      bindings,
    });
    sites.set(kernel, list);
  }
  return sites;
}
