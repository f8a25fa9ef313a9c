// Rows and shapes. A shape line is, separated by tabs: size, fixed-bit mask (hex, like the value in the row), targets (bit set),
// availability (1 asm parser only, 2 code generation only), decoder namespace, and the rest as JSON with the keys: f fields
// [operand index, lowest bit, width, bit in the operand], t asm template after the mnemonic, o operands [class, name, isOut,
// tiedTo], u/d implicit uses/defs, l flags, c constraints, p predicates, v MC conversion, w schedule classes, e encoding family.

export interface RawRow {
  name: string;
  asm: string;
  ns: string;
  targets: string[];
  size: number;
  bits: [number, number, unknown][];
  outs: [string, string][];
  ins: [string, string][];
  uses: string[];
  defs: string[];
  flags: string[];
  constraints: string;
  asmOnly: number;
  codeGenOnly: number;
  preds: string[];
  conv: string;
  sched: string[];
}

const FAMILIES = ['SDWA', 'DPP', 'VOP3P', 'VOP3', 'VOP1', 'VOP2', 'VOPC', 'SOP1', 'SOP2', 'SOPC', 'SOPK', 'SOPP'];
const MEMORY_FAMILIES: Record<string, string> = {
  SMRD: 'SMEM',
  DS: 'DS',
  MUBUF: 'MUBUF',
  MTBUF: 'MTBUF',
  MIMG: 'MIMG',
};

/** The encoding family as the ISA manuals name it. */
function encodingOf(row: RawRow, mnemonic: string, value: bigint): string {
  const flags = new Set(row.flags);
  if (flags.has('FLAT'))
    return mnemonic.startsWith('flat_') ? 'FLAT' : (mnemonic.split('_')[0]?.toUpperCase() ?? 'FLAT');
  for (const [flag, family] of Object.entries(MEMORY_FAMILIES)) if (flags.has(flag)) return family;
  if (row.size === 16) return 'VOP3PX2';
  if (!flags.has('VOP3P') && row.size === 8 && ((value >> 23n) & 0x1ffn) === 0x1a7n) return 'VOP3P-MAI';
  const family = FAMILIES.find((f) => flags.has(f));
  if (family === undefined) {
    if (/_(e32)(_|$)/.test(row.name)) return 'VOPC';
    throw new Error(`gen-isa: no encoding family for ${row.name}`);
  }
  return family;
}

/** Flags that LLVM keeps in TSFlags but the records file leaves out; each follows from the record. */
function extraFlags(row: RawRow, encoding: string): string[] {
  const extra: string[] = [];
  const ins = new Set(row.ins.map(([, name]) => name));
  if (encoding === 'GLOBAL') extra.push('FlatGlobal');
  if (encoding === 'SCRATCH') extra.push('FlatScratch');
  if (encoding === 'VOP3P-MAI' || encoding === 'VOP3PX2') extra.push('MAI');
  if (/ lds\b/.test(row.asm) || /_load_lds_/.test(row.asm)) extra.push('LDSDMA');
  if (ins.has('op_sel') && encoding === 'VOP3') extra.push('VOP3_OPSEL');
  const isMix = /_mix(lo|hi)?_/.test(row.asm);
  if (encoding === 'VOP3PX2' || (encoding === 'VOP3P' && ins.has('op_sel_hi') && !isMix)) extra.push('IsPacked');
  return extra;
}

/** The mnemonic of the template. */
function mnemonicOf(row: RawRow): string {
  return /^[^\s$]+/.exec(row.asm)?.[0] as string;
}

/** The printed suffix. `short` are the mnemonics that have a 32-bit form; only then is the 64-bit form marked. */
function suffixOf(row: RawRow, template: string, prints: Map<string, string>, short: ReadonlySet<string>): string {
  const first = row.outs[0]?.[0];
  if (first === undefined || !template.startsWith('$') || prints.get(first) !== 'VOPDst') return '';
  if (row.flags.includes('VOP3')) return /_e64(_|$)/.test(row.name) && short.has(mnemonicOf(row)) ? '_e64' : '';
  if (row.flags.includes('DPP')) return '_dpp';
  if (row.flags.includes('SDWA')) return '_sdwa';
  return /_e32(_|$)/.test(row.name) ? '_e32' : '';
}

/** The compact tables; `names` and `prints` come from the operand classes. */
export function rowTables(
  raw: readonly RawRow[],
  targets: readonly string[],
  names: Map<string, string>,
  prints: Map<string, string>,
): { shapes: string[]; rows: string[] } {
  const shapes: string[] = [];
  const indexOf = new Map<string, number>();
  const rows: string[] = [];
  const short = new Set(
    raw.filter((row) => /_e32(_|$)/.test(row.name)).map((row) => mnemonicOf(row).replace(/_e32$/, '')),
  );
  for (const row of raw) {
    const operands = [...row.outs, ...row.ins];
    const position = new Map(operands.map(([, name], i) => [name, i]));
    let mask = 0n;
    let value = 0n;
    const fields: [number, number, number, number][] = [];
    for (const [low, high, what] of row.bits) {
      if (typeof what !== 'string' || what === '?') continue;
      if (/^[01]+$/.test(what)) {
        mask |= ((1n << BigInt(high - low + 1)) - 1n) << BigInt(low);
        value |= BigInt(`0b${what}`) << BigInt(low);
        continue;
      }
      const field = /^(\w+)\[(\d+):(\d+)\]$/.exec(what);
      const operand = field === null ? undefined : position.get(field[1] as string);
      if (field !== null && operand !== undefined) fields.push([operand, low, high - low + 1, Number(field[3])]);
    }
    const mnemonicText = mnemonicOf(row);
    const template = row.asm.slice(mnemonicText.length);
    const suffix = suffixOf(row, template, prints, short);
    const tied = new Map<number, number>();
    for (const [, a, b] of row.constraints.matchAll(/\$(\w+) = \$(\w+)/g)) {
      const [x, y] = [position.get(a as string) as number, position.get(b as string) as number];
      tied.set(Math.max(x, y), Math.min(x, y));
    }
    // Records of encodings lack constraints that their pseudo instructions have: loads into half a register, s_bitset.
    for (const [i, [, name]] of operands.entries()) {
      const out = position.get(name.replace(/_in$/, ''));
      if (name.endsWith('_in') && !tied.has(i) && out !== undefined && out < row.outs.length) tied.set(i, out);
    }
    const encoding = encodingOf(row, mnemonicText, value);
    const head = [
      row.size,
      mask.toString(16),
      targets.reduce((set, t, i) => set | (row.targets.includes(t) ? 1 << i : 0), 0),
      row.asmOnly | (row.codeGenOnly << 1),
      row.ns,
    ];
    const shape = {
      f: fields,
      t: template.startsWith('$') && suffixNeedsSpace(row, prints) ? ` ${template}` : template,
      o: operands.map(([cls, name], i) => [names.get(cls), name, i < row.outs.length ? 1 : 0, tied.get(i) ?? -1]),
      u: row.uses,
      d: row.defs,
      l: [...row.flags, ...extraFlags(row, encoding)],
      c: row.constraints,
      p: row.preds,
      v: row.conv,
      w: row.sched,
      e: encoding,
    };
    const text = [...head, JSON.stringify(shape)].join('\t');
    let index = indexOf.get(text);
    if (index === undefined) {
      index = shapes.length;
      indexOf.set(text, index);
      shapes.push(text);
    }
    rows.push([row.name, mnemonicText + suffix, index.toString(36), value.toString(16)].join('\t'));
  }
  return { shapes, rows };
}

function suffixNeedsSpace(row: RawRow, prints: Map<string, string>): boolean {
  const first = row.outs[0]?.[0];
  return first !== undefined && prints.get(first) === 'VOPDst';
}
