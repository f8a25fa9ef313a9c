// The assembler's view of the instruction table: for each mnemonic the syntaxes to match, by variant, and what parses each
// operand position. Sources: LLVM's AsmMatcherEmitter.cpp (matchable order, custom operand parsers), VOPC/VOP2/VOP3P aliases.
import { operandIndex } from '../operand.ts';
import { operandClass } from '../table/operand-classes.ts';
import { allRows, tableFor } from '../table/table.ts';
import type { InstructionRow, TargetName } from '../types.ts';
import { type Formal, keywordFormal, operandFormal, type RankedParser } from './operand-classes.ts';

/** Assembler variants in the order they are tried. */
export enum Variant {
  Default,
  VOP3,
  SDWA,
  DPP,
}

/** One syntax of one row. */
export interface Matchable {
  readonly row: InstructionRow;
  readonly formals: readonly Formal[];
  /** Set on rows that only other targets have: they can match but not be used. */
  readonly foreign: boolean;
  /** v_mac with SDWA: it writes whole dwords only. */
  readonly wholeDestination: boolean;
}

/** Everything a mnemonic (without suffix) can be. */
export interface Mnemonic {
  readonly name: string;
  /** By variant, in match order. */
  readonly variants: readonly (readonly Matchable[])[];
  /** Parsers to try at each operand position. */
  readonly parsers: readonly (readonly RankedParser[])[];
}

/** v_readlane and v_writelane are VOP2 instructions to the assembler, in a 64-bit encoding without suffix. */
export function isLaneAccess(row: InstructionRow): boolean {
  return row.operation === 'v_readlane_b32' || row.operation === 'v_writelane_b32';
}

/** 32-bit vector operations that no newer GPU has as VOP3 with DPP. */
const WITHOUT_WIDE_DPP = new Set(
  (
    'v_addc_co_u32 v_add_i16 v_add_u16 v_clrexcp v_cmpx_f_i16 v_cmpx_f_u16 v_cmpx_t_i16 v_cmpx_t_u16 v_cmp_f_i16 v_cmp_f_u16 ' +
    'v_cmp_t_i16 v_cmp_t_u16 v_cvt_pkaccum_u8_f32 v_div_fixup_f32 v_div_fixup_legacy_f16 v_div_fmas_f32 v_div_scale_f32 ' +
    'v_dot2c_f32_f16 v_dot2c_i32_i16 v_dot4c_i32_i8 v_dot8c_i32_i4 v_exp_legacy_f32 v_fma_legacy_f16 v_log_legacy_f32 ' +
    'v_mac_f16 v_mac_f32 v_mad_f16 v_mad_f32 v_mad_legacy_f16 v_mad_legacy_f32 v_mad_legacy_i16 v_mad_legacy_u16 ' +
    'v_mul_hi_i32 v_mul_hi_u32 v_mul_lo_i32 v_mul_lo_u32 v_nop v_pk_fmac_f16 v_readlane_b32 v_screen_partition_4se_b32 ' +
    'v_subbrev_co_u32 v_subb_co_u32 v_subrev_u16 v_sub_i16 v_sub_u16 v_writelane_b32'
  ).split(' '),
);

/** Whether newer GPUs have the row's operation as VOP3 with DPP: 32-bit vector operations that are not specific to gfx940. */
export function hasWideDpp(row: InstructionRow): boolean {
  if (row.encoding !== 'VOP3' || !row.targets.includes('gfx90a') || WITHOUT_WIDE_DPP.has(row.operation)) return false;
  return row.operands.every((o) => o.name === 'sdst' || o.cls.startsWith('SSrc_i1') || operandClass(o.cls).dwords <= 1);
}

function variantOf(row: InstructionRow): Variant {
  if (row.flags.has('SDWA')) return Variant.SDWA;
  if (row.flags.has('DPP')) return Variant.DPP;
  if (isLaneAccess(row)) return Variant.Default;
  return row.flags.has('VOP3') || row.flags.has('VOP3P') ? Variant.VOP3 : Variant.Default;
}

function matchableOf(row: InstructionRow, template: string, foreign: boolean): Matchable {
  const wholeDestination = /^V_MAC_F(32|16)_sdwa/.test(row.name);
  return { row, formals: formalsOf(row, template), foreign, wholeDestination };
}

/** By number of the shape, then template. */
const knownFormals = new Map<number, Map<string, readonly Formal[]>>();

function formalsOf(row: InstructionRow, template: string): readonly Formal[] {
  let known = knownFormals.get(row.shape);
  if (known === undefined) {
    known = new Map();
    knownFormals.set(row.shape, known);
  }
  let formals = known.get(template);
  if (formals === undefined) {
    formals = readTemplate(row, template);
    known.set(template, formals);
  }
  return formals;
}

function readTemplate(row: InstructionRow, template: string): Formal[] {
  const formals: Formal[] = [];
  for (const [word] of template.matchAll(/\$\w+|[^\s,$]+/g)) {
    if (!word.startsWith('$')) {
      formals.push(keywordFormal(word));
      continue;
    }
    const index = operandIndex(row, word.slice(1));
    formals.push(operandFormal(row.operands[index].cls, index));
  }
  return formals;
}

/** Templates of a row: its own and LLVM's aliases that spell the implicit VCC of 32-bit encodings. */
function templatesOf(row: InstructionRow): string[] {
  if (row.encoding === 'VOPC' && !row.operands.some((o) => o.isOut)) {
    return [row.template, ` vcc,${row.template}`];
  }
  if (row.encoding === 'VOP2' && row.uses.includes('VCC') && !/\bvcc\b/.test(row.template)) {
    return [row.template, `${row.template}, vcc`];
  }
  // The carry may be left out of the text of 32-bit encodings.
  if (row.encoding === 'VOP2' && !row.uses.includes('VCC') && /\bvcc\b/.test(row.template)) {
    return [row.template, row.template.replaceAll('vcc', '')];
  }
  return [row.template];
}

/** Syntaxes that only other GPUs have: wave32 names its mask vcc_lo (carries have other mnemonics there), gfx10 v_cmpx has no mask operand. */
function foreignTemplatesOf(row: InstructionRow): string[] {
  const own = templatesOf(row);
  const carries = row.operation.includes('_co_');
  const wave32 = (carries ? [] : own.filter((t) => /\bvcc\b/.test(t))).map((t) => t.replace(/\bvcc\b/g, 'vcc_lo'));
  const sdst =
    row.operation.startsWith('v_cmpx_') && row.template.includes('$sdst') ? [row.template.replace('$sdst', '')] : [];
  return [...wave32, ...sdst];
}

const NO_ALIASES: readonly string[] = [];

/** Mnemonics that name a row besides its own: matrix instructions keep their older spellings on gfx940. */
function aliasesOf(row: InstructionRow): readonly string[] {
  if (!/^V_(?:ACCVGPR_|S?MFMA)/.test(row.name)) return NO_ALIASES;
  if (/^V_ACCVGPR_(READ|WRITE)_B32_/.test(row.name)) return [row.operation.replace(/_b32$/, '')];
  const old = /^(V_S?MFMAC?_.+?)_gfx940/.exec(row.name)?.[1]?.toLowerCase();
  if (old === undefined || row.name.includes('F8F6F4')) return [];
  const aliases = old === row.operation ? [] : [old];
  const parts = /^(v_s?mfmac?_[a-z0-9]+_\d+x\d+x\d+)(?:_\d+b)?_(.+)$/.exec(row.operation);
  if (parts !== null && (!parts[2].includes('_') || row.operation.startsWith('v_smfmac'))) {
    aliases.push(parts[1] + parts[2].replaceAll('_', ''));
  }
  return aliases.filter((alias, i) => aliases.indexOf(alias) === i);
}

/** Fewer operands first; SMEM's other encoding of a register offset (`SGPR_alt`) only when nothing else fits. */
function byPreference(a: Matchable, b: Matchable): number {
  return a.formals.length - b.formals.length || Number(/_alt_/.test(a.row.name)) - Number(/_alt_/.test(b.row.name));
}

/** Positions an operand can have, by how many optional ones may be left out before it; LLVM tries its parser at each. */
function parsersOf(matchables: readonly Matchable[]): RankedParser[][] {
  const positions: Map<string, RankedParser>[] = [];
  for (const { formals, foreign } of matchables) {
    if (foreign) continue;
    let optional = 0;
    formals.forEach((formal, index) => {
      const { parser } = formal;
      if (parser !== undefined) {
        for (let at = index - optional; at <= index; at++) {
          positions[at] ??= new Map();
          positions[at].set(parser.key, parser);
        }
      }
      if (formal.optional) optional++;
    });
  }
  return Array.from(positions, (map) => [...(map?.values() ?? [])].sort((a, b) => a.rank - b.rank));
}

/** The syntaxes of a mnemonic. `borrowed`: GFX8 spells the carry operations without `_co`; here those forms are refused. */
function build(
  name: string,
  rows: readonly InstructionRow[],
  borrowed: readonly InstructionRow[],
  target: TargetName,
): Mnemonic {
  const variants: Matchable[][] = [[], [], [], []];
  const own: Matchable[] = [];
  for (const row of borrowed) {
    variants[variantOf(row)].push(matchableOf(row, row.template, true));
  }
  for (const row of rows) {
    const foreign = !row.targets.includes(target);
    for (const template of templatesOf(row)) {
      const matchable = matchableOf(row, template, foreign);
      variants[variantOf(row)].push(matchable);
      own.push(matchable);
    }
    for (const template of foreignTemplatesOf(row)) {
      variants[variantOf(row)].push(matchableOf(row, template, true));
    }
  }
  for (const list of variants) list.sort(byPreference);
  return { name, variants, parsers: parsersOf(own) };
}

/** The mnemonics of one target. */
export class MnemonicTable {
  readonly target: TargetName;
  private readonly rows = new Map<string, InstructionRow[]>();
  private readonly built = new Map<string, Mnemonic>();
  private suggested: string[] | undefined;

  constructor(target: TargetName) {
    this.target = target;
    for (const row of allRows()) {
      if (row.codeGenOnly) continue;
      this.add(row.operation, row);
      for (const alias of aliasesOf(row)) this.add(alias, row);
    }
  }

  private add(name: string, row: InstructionRow): void {
    const list = this.rows.get(name);
    if (list === undefined) this.rows.set(name, [row]);
    else list.push(row);
  }

  /** The mnemonic, with rows of other targets included; undefined when no supported target has it. */
  get(name: string): Mnemonic | undefined {
    const known = this.built.get(name);
    if (known !== undefined) return known;
    const rows = this.rows.get(name);
    if (rows === undefined) return undefined;
    const carry = /^v_(add|sub|subrev)_u32$/.exec(name);
    const borrowed = carry === null ? [] : (this.rows.get(`v_${carry[1]}_co_u32`) ?? []);
    const mnemonic = build(name, rows, borrowed, this.target);
    this.built.set(name, mnemonic);
    return mnemonic;
  }

  /** The mnemonics that LLVM suggests: those of the default variant. */
  names(): string[] {
    if (this.suggested === undefined) {
      const rows = tableFor(this.target).rows.filter((row) => !row.codeGenOnly && variantOf(row) === Variant.Default);
      this.suggested = [...new Set(rows.map((row) => row.operation))];
    }
    return this.suggested;
  }
}

const tables = new Map<TargetName, MnemonicTable>();

/** The mnemonic table of a target. */
export function mnemonicsFor(target: TargetName): MnemonicTable {
  let table = tables.get(target);
  if (table === undefined) {
    table = new MnemonicTable(target);
    tables.set(target, table);
  }
  return table;
}
