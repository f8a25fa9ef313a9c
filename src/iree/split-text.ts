// One text per kernel: the text of an executable with several kernels, cut into a file for each and a shared file that includes
// them. The assembler reads the same statements in the same order, but for kernel descriptors, which may move to their kernel.

/** A text cut into files. */
export interface SplitText {
  /** Includes the others by name. */
  readonly shared: string;
  readonly parts: readonly { readonly kernel: string; readonly file: string; readonly text: string }[];
}

export interface SplitOptions {
  /** Name of the executable, for comments. */
  readonly executable: string;
  /** Move descriptor blocks that stand apart from the code (as the disassembler writes them) to their kernels. */
  readonly moveDescriptors: boolean;
}

/** Lines [from, to). */
interface Range {
  readonly from: number;
  readonly to: number;
}

const BEFORE_LABEL = /^\t\.(?:globl|weak|protected|hidden|internal|type|p2align|p2alignl)\b/;
/** What LLVM writes behind the last function. */
const TAIL = /^\t\.(?:p2alignl 6, \d+$|section\t(?:\.AMDGPU\.|"\.note)|amdgpu_metadata)/;

/** Cuts a text; undefined when a kernel's code cannot be found in it. */
export function splitText(text: string, kernels: readonly string[], options: SplitOptions): SplitText | undefined {
  const lines = text.split('\n');
  const found = findChunks(lines, kernels);
  if (found === undefined) return undefined;
  const names = fileNames(kernels);
  const blocks = options.moveDescriptors ? findDescriptors(lines, found) : new Map<string, Range>();
  const shared: string[] = [
    `; What the kernels of ${options.executable} share. Each kernel has a file of its own, included here: this file is assembled.`,
  ];
  const starts = new Map([...found].map(([kernel, range]) => [range.from, kernel]));
  const moved = new Map([...blocks.values()].map((range) => [range.from, range]));
  for (let i = 0; i < lines.length; ) {
    const kernel = starts.get(i);
    const block = moved.get(i);
    if (kernel !== undefined) {
      shared.push(`\t.include "${names.get(kernel)}"`);
      i = found.get(kernel)?.to ?? i + 1;
    } else if (block !== undefined) i = block.to;
    else shared.push(lines[i++]);
  }
  const parts = [...found].map(([kernel, { from, to }]) => {
    const block = blocks.get(kernel);
    const descriptor =
      block === undefined
        ? []
        : ['\t.section\t.rodata,"a",@progbits', '\t.p2align\t6, 0x0', ...descriptorOf(lines, block), '\t.text'];
    const body = [`; Kernel ${kernel} of ${options.executable}.`, ...lines.slice(from, to), ...descriptor, ''];
    return { kernel, file: names.get(kernel) ?? '', text: body.join('\n') };
  });
  return { shared: shared.join('\n'), parts };
}

const descriptorOf = (lines: readonly string[], { from, to }: Range): string[] =>
  lines.slice(from, to).filter((line) => !/^\t\.p2align\t/.test(line));

/** The lines of each kernel, in the order of the text. */
function findChunks(lines: readonly string[], kernels: readonly string[]): Map<string, Range> | undefined {
  const wanted = new Set(kernels);
  const starts: { kernel: string; from: number; size: number }[] = [];
  const labels = new Map<string, number>();
  lines.forEach((line, i) => {
    const size = /^\t\.size\t"?([^",]+)"?,/.exec(line)?.[1];
    const label = size === undefined ? /^(?:"([^"]+)"|([^\s.;#:"][^\s:"]*)):/.exec(line) : null;
    const name = label === null ? undefined : (label[1] ?? label[2]);
    if (name !== undefined && wanted.has(name)) labels.set(name, i);
    const at = size === undefined ? undefined : labels.get(size);
    if (size === undefined || at === undefined) return;
    let from = at;
    while (from > 0 && BEFORE_LABEL.test(lines[from - 1])) from--;
    starts.push({ kernel: size, from, size: i + 1 });
  });
  if (starts.length !== wanted.size || new Set(starts.map((s) => s.kernel)).size !== wanted.size) return undefined;
  // LLVM writes what belongs to a function behind it, up to the next one; the disassembler ends it with its size.
  const isLlvm = lines.slice(starts[0].size, starts[1]?.from).some((line) => /^\t\.amdhsa_kernel /.test(line));
  const chunks = new Map<string, Range>();
  for (const [k, { kernel, from, size }] of starts.entries()) {
    const next = starts[k + 1]?.from ?? lines.length;
    const tail = lines.findIndex((line, i) => i >= size && (i >= next || TAIL.test(line)));
    chunks.set(kernel, { from, to: isLlvm ? (tail < 0 ? next : tail) : size });
  }
  return chunks;
}

/** The `.amdhsa_kernel` blocks outside the chunks, each with the alignment line before it. */
function findDescriptors(lines: readonly string[], chunks: ReadonlyMap<string, Range>): Map<string, Range> {
  const blocks = new Map<string, Range>();
  for (let i = 0; i < lines.length; i++) {
    const match = /^\t\.amdhsa_kernel (?:"([^"]+)"|(\S+))/.exec(lines[i]);
    const name = match === null ? undefined : (match[1] ?? match[2]);
    const chunk = name === undefined ? undefined : chunks.get(name);
    if (name === undefined || chunk === undefined || (i >= chunk.from && i < chunk.to)) continue;
    const end = lines.indexOf('\t.end_amdhsa_kernel', i);
    if (end < 0) return blocks;
    blocks.set(name, { from: /^\t\.p2align\t6, /.test(lines[i - 1] ?? '') ? i - 1 : i, to: end + 1 });
    i = end;
  }
  return blocks;
}

const LONGEST_NAME = 200;

/** A file name for each kernel, without characters that shells and file systems dislike; all different, none `shared.s`. */
function fileNames(kernels: readonly string[]): Map<string, string> {
  const taken = new Set(['shared.s']);
  const names = new Map<string, string>();
  for (const kernel of kernels) {
    const stem = kernel.replace(/[^\w.$-]/g, '_').slice(0, LONGEST_NAME);
    let name = `${stem}.s`;
    for (let n = 2; taken.has(name.toLowerCase()); n++) name = `${stem}-${n}.s`;
    taken.add(name.toLowerCase());
    names.set(kernel, name);
  }
  return names;
}
