// Operand classes: LLVM's RegisterClass/Operand records reduced to structural properties.
// Anonymous records get a name from what they print and the register class they hold.
import type { RawRow } from './rows.ts';

export interface RawClass {
  OperandType?: string;
  DecoderMethod?: string;
  PrintMethod?: string;
  RegClass?: string;
  Type?: string;
  kind?: string;
  match?: {
    Name?: string;
    PredicateMethod?: string;
    ParserMethod?: string;
    IsOptional?: number;
    DefaultMethod?: string;
  };
}

export interface ClassTables {
  lines: string[];
  /** Stable name of each record's name. */
  names: Map<string, string>;
  /** Print method of each record's name. */
  prints: Map<string, string>;
}

const DECODERS: Record<string, string> = {
  decodeSrcRegOrImm9: 'src9',
  decodeSrcRegOrImmA9: 'srcA9',
  decodeSrcReg9: 'src9',
  decodeSrcA9: 'srcA9',
  decodeSrcAV10: 'srcAV10',
  decodeAV10: 'av10',
  decodeAVLdSt: 'avLdSt',
  decodeBoolReg: 'bool',
  decodeOperand_VSrc_f64: 'src9',
  decodeSDWASrc16: 'sdwaSrc',
  decodeSDWASrc32: 'sdwaSrc',
  decodeSDWAVopcDst: 'sdwaDst',
  decodeSMEMOffset: 'imm',
  decodeSOPPBrTarget: 'imm',
  decodeOperand_KImmFP: 'literal',
};

/** Classes that only the rows of tools/gen-isa/images.ts use. */
const DERIVED: Record<string, RawClass> = {
  VGPROp_96: { OperandType: 'OPERAND_REGISTER', PrintMethod: 'printOperand', RegClass: 'VReg_96_AlignTarget' },
};

/** Width of a register class or operand name in dwords. */
function dwordsOf(name: string): number {
  const bits = /_(1024|512|384|352|320|288|256|224|192|160|128|96|64|32)(?=_|$|\b)/.exec(name)?.[1];
  return bits === undefined ? 1 : Number(bits) / 32;
}

function classOf(name: string, c: RawClass): string {
  return c.kind === 'RegisterClass' ? name : (c.RegClass ?? '');
}

function decodeOf(name: string, c: RawClass): [string, number] {
  const cls = classOf(name, c);
  const method = c.DecoderMethod?.replace(/<.*/, '');
  const template = /<(\d+)>/.exec(c.DecoderMethod ?? '')?.[1];
  const known = method === undefined ? undefined : DECODERS[method];
  if (known !== undefined) {
    if (known === 'bool' || known === 'sdwaDst') return [known, 2];
    if (template !== undefined) return [known, Number(template) / 32];
    return [known, method === 'decodeOperand_VSrc_f64' ? 2 : 1];
  }
  if (cls === '') return ['imm', 0];
  if (/^(VGPR|VReg)_/.test(cls)) return ['vgpr', dwordsOf(cls)];
  if (/^(AGPR|AReg)_/.test(cls)) return ['agpr', dwordsOf(cls)];
  if (/^SReg_/.test(cls)) return ['sreg', dwordsOf(cls)];
  if (/^AV_LdSt_/.test(cls)) return ['avLdSt', dwordsOf(cls)];
  throw new Error(`gen-isa: no decoder known for operand class ${name} (${c.DecoderMethod ?? cls})`);
}

/** `printNamedInt(…, "abid", false, false)` becomes `NamedInt:abid:0:0`. */
function printOf(c: RawClass): string {
  const method = c.PrintMethod ?? 'printOperand';
  const int = /printNamedInt\(.*?"(\w+)", (true|false), (true|false)\)/.exec(method);
  if (int) return `NamedInt:${int[1]}:${int[2] === 'true' ? 1 : 0}:${int[3] === 'true' ? 1 : 0}`;
  const bit = /printNamedBit\(.*?"(\w+)"\)/.exec(method);
  if (bit) return `NamedBit:${bit[1]}`;
  return method.replace(/^print/, '');
}

/** The parser: `NamedInt:abid:4` (unsigned bits, 0 any), `NamedBit:gds`, `Array:op_sel`, `SDWASel:dst_sel`, or LLVM's method name. */
function parseOf(c: RawClass): string {
  const m = c.match?.ParserMethod ?? '';
  const int = /parseIntWithPrefix\("(\w+)"/.exec(m);
  if (int) return `NamedInt:${int[1]}:${/isUInt<(\d+)>/.exec(m)?.[1] ?? 0}`;
  const bit = /parseNamedBit\("(\w+)"/.exec(m);
  if (bit) return `NamedBit:${bit[1]}`;
  const array = /parseOperandArrayWithPrefix\("(\w+)"/.exec(m);
  if (array) return `Array:${array[1]}`;
  const sel = /parseSDWASel\(Operands, "(\w+)"/.exec(m);
  if (sel) return `SDWASel:${sel[1]}`;
  return m.replace(/^parse/, '');
}

function predicateOf(c: RawClass): string {
  const p = c.match?.PredicateMethod ?? '';
  if (/Op\.isCPol\(\) && !\(/.test(p)) return 'CPolNonGLC';
  if (/Op\.isCPol\(\) && /.test(p)) return 'CPolGLC';
  if (/isImmTy/.test(p)) return '';
  return p.replace(/^is/, '');
}

/** The table of the classes that `rows` use, sorted by name. */
export function classLines(raw: Record<string, RawClass>, rows: readonly RawRow[]): ClassTables {
  const names = new Map<string, string>();
  const prints = new Map<string, string>();
  const lines = new Map<string, string>();
  for (const row of rows) {
    for (const [cls] of [...row.outs, ...row.ins]) {
      if (names.has(cls)) continue;
      const c = raw[cls] ?? DERIVED[cls] ?? { kind: 'RegisterClass' };
      const print = printOf(c);
      const stable = cls.startsWith('anonymous_') ? `${print}_${c.RegClass ?? ''}` : cls;
      names.set(cls, stable);
      prints.set(cls, print);
      const [decode, dwords] = decodeOf(cls, c);
      const fallback = /CreateImm\(this, (0x[0-9a-f]+|\d+)/.exec(c.match?.DefaultMethod ?? '')?.[1];
      const line = [
        stable,
        (c.OperandType ?? 'OPERAND_REGISTER').replace(/^OPERAND_/, ''),
        decode,
        dwords,
        print,
        classOf(cls, c),
        c.Type ?? '',
        c.match?.Name ?? '',
        predicateOf(c),
        parseOf(c),
        c.match?.IsOptional ? 1 : 0,
        fallback === undefined ? 0 : Number(fallback),
      ].join('\t');
      const before = lines.get(stable);
      if (before !== undefined && before !== line) throw new Error(`gen-isa: two operand classes named ${stable}`);
      lines.set(stable, line);
    }
  }
  return { lines: [...lines.keys()].sort().map((k) => lines.get(k) as string), names, prints };
}
