// Mistakes of people who edit machine code, made one at a time in the text of a code object: 25 kinds. The virtual GPU decides which of
// them change what a kernel computes; `wavesmith check --against` has to notice those.

/** A kind of mistake: the lines that a line becomes, or undefined where the mistake cannot be made. */
export interface EditMutation {
  readonly name: string;
  readonly mutate: (
    line: string,
    context: { readonly lines: readonly string[]; readonly at: number },
  ) => string[] | undefined;
}

const gone = (name: string, which: RegExp): EditMutation => ({
  name,
  mutate: (line) => (which.test(line) ? [] : undefined),
});

/** `N + by` in the place of the number that the pattern's second group has. */
const number = (name: string, pattern: RegExp, change: (n: number) => number | undefined): EditMutation => ({
  name,
  mutate: (line) => {
    const match = pattern.exec(line);
    const now = match === null ? undefined : change(Number(match[2]));
    return match === null || now === undefined ? undefined : [line.replace(pattern, `$1${now}`)];
  },
});

const INVERSE: Readonly<Record<string, string>> = {
  scc0: 'scc1',
  scc1: 'scc0',
  vccz: 'vccnz',
  vccnz: 'vccz',
  execz: 'execnz',
  execnz: 'execz',
};
const ALU = /^\s*(?:v_(?!mfma|smfmac|nop)|s_(?:add|sub|lshl|lshr|ashr|mul|and|or|bfe|cmp|mov|cselect|min|max))/;

export const EDIT_MUTATIONS: readonly EditMutation[] = [
  gone('barrier deleted', /^\s*s_barrier/),
  {
    name: 'barrier added',
    mutate: (line) => (/^\s*ds_/.test(line) ? ['\ts_barrier', line] : undefined),
  },
  number('LDS segment shrunk', /^(\s*\.amdhsa_group_segment_fixed_size )(\d+)/, (n) => (n === 0 ? undefined : n >> 2)),
  gone('store deleted', /^\s*(?:global|flat|buffer|scratch)_store/),
  gone('LDS write deleted', /^\s*ds_write/),
  gone('atomic deleted', /^\s*(?:global|flat|buffer)_atomic|^\s*ds_(?:add|min|max|inc|or|and)/),
  gone('load deleted', /^\s*(?:global|flat|buffer)_load/),
  gone('scalar load deleted', /^\s*s_(?:buffer_)?load/),
  gone('LDS read deleted', /^\s*ds_(?:read|bpermute|permute|swizzle)/),
  {
    name: 'load widened',
    mutate: (line) => {
      const match = /^(\s*(?:global|flat|buffer)_load_dword) v(\d+),/.exec(line);
      if (match === null) return undefined;
      const first = Number(match[2]) & ~1;
      return [line.replace(match[0], `${match[1]}x2 v[${first}:${first + 1}],`)];
    },
  },
  {
    name: 'branch retargeted',
    mutate: (line, { lines, at }) => {
      const match = /^(\s*s_(?:c?branch\w*) )(\S+)/.exec(line);
      const labels = lines.flatMap((l) => /^([.\w$]+):/.exec(l)?.[1] ?? []).filter((l) => /^\.L|^label_/.test(l));
      const other =
        match === null ? undefined : labels.filter((l) => l !== match[2])[at % Math.max(1, labels.length - 1)];
      return match === null || other === undefined ? undefined : [line.replace(match[0], `${match[1]}${other}`)];
    },
  },
  {
    name: 'branch inverted',
    mutate: (line) => {
      const match = /^(\s*s_cbranch_)(\w+)/.exec(line);
      const other = match?.[2] === undefined ? undefined : INVERSE[match[2]];
      return match === null || other === undefined ? undefined : [line.replace(match[0], `${match[1]}${other}`)];
    },
  },
  gone('branch deleted', /^\s*s_c?branch/),
  gone('saveexec deleted', /^\s*s_\w+_saveexec/),
  gone('EXEC change deleted', /^\s*s_(?:or|and|andn2|xor|mov)_b64 exec/),
  number('preload length changed', /^(\s*\.amdhsa_user_sgpr_kernarg_preload_length )(\d+)/, (n) =>
    n < 2 ? undefined : n - 1,
  ),
  number('user SGPR count changed', /^(\s*\.amdhsa_user_sgpr_count )(\d+)/, (n) => n + 1),
  number('kernarg size of the metadata', /^(\s*\.kernarg_segment_size: +)(\d+)/, (n) => n + 8),
  gone('wait deleted', /^\s*s_waitcnt/),
  number('wait weakened', /^(\s*s_waitcnt.*?(?:vm|lgkm)cnt\()(\d+)/, (n) => n + 1),
  gone('no-op deleted', /^\s*s_nop/),
  {
    name: 'neighbours swapped',
    mutate: (line, { lines, at }) => {
      const next = lines[at + 1];
      return ALU.test(line) && next !== undefined && ALU.test(next) && line !== next
        ? [next, line, SWALLOW]
        : undefined;
    },
  },
  gone('arithmetic deleted', ALU),
  {
    name: 'operand changed',
    mutate: (line) => {
      if (!/^\s*v_\w+ v\d+, (?:\S+, )?v\d+/.test(line)) return undefined;
      const at = line.lastIndexOf(' v');
      const now =
        line.slice(0, at) + line.slice(at).replace(/ v(\d+)/, (_, n) => ` v${Number(n) === 0 ? 1 : Number(n) - 1}`);
      return [now];
    },
  },
  number('offset changed', /(\soffset:)(\d+)/, (n) => n + 4),
];

/** In the place of a line: the next line of the text is left out, it is there already. */
const SWALLOW = '\0';

/** At most `most` of a list, spread over it. */
export const spread = <T>(list: readonly T[], most: number): T[] =>
  list.length <= most
    ? [...list]
    : Array.from({ length: most }, (_, i) => list[Math.floor((i * list.length) / most)] as T);

/** A text with one mistake. */
export interface EditMutant {
  readonly kind: string;
  readonly what: string;
  readonly text: string;
}

/** The lines in which a mistake of a kind can be made. */
export const editPlaces = ({ mutate }: EditMutation, lines: readonly string[]): number[] =>
  lines.flatMap((line, at) => (mutate(line, { lines, at }) === undefined ? [] : [at]));

/** The text with the mistake in one of these lines. */
export function editMutant({ name, mutate }: EditMutation, lines: readonly string[], at: number): EditMutant {
  const made = mutate(lines[at] as string, { lines, at }) as string[];
  const isSwap = made.at(-1) === SWALLOW;
  const now = isSwap ? made.slice(0, -1) : made;
  const mutated = [...lines.slice(0, at), ...now, ...lines.slice(at + (isSwap ? 2 : 1))];
  return { kind: name, what: `${at + 1}: ${(lines[at] as string).trim()}`, text: mutated.join('\n') };
}

/** The mistakes of one kind that can be made in a text, at most `most` of them spread over it. */
export function editMutants(kind: EditMutation, text: string, most: number): EditMutant[] {
  const lines = text.split('\n');
  return spread(editPlaces(kind, lines), most).map((at) => editMutant(kind, lines, at));
}
