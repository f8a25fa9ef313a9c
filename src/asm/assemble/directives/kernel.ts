// `.amdhsa_kernel` … `.end_amdhsa_kernel`: kernel descriptors whose fields may be expressions over later symbols.
// Sources: AMDGPUAsmParser.cpp (ParseDirectiveAMDHSAKernel), AMDGPUMCKernelDescriptor.cpp; LLVM's AMDGPUUsage, "AMDHSA Kernel
// Assembler Directives".

import { SymbolType, SymbolVisibility } from '../../../codeobject/elf/object-model.ts';
import {
  type DescriptorField,
  PRELOAD_FIELDS,
  RSRC1_FIELDS,
  RSRC2_FIELDS,
  RSRC3_FIELDS,
} from '../../../codeobject/kernel/descriptor.ts';
import type { TargetInfo } from '../../../isa/table/targets.ts';
import type { Expr } from '../../../isa/text/expr-tree.ts';
import { type Lexer, Tok } from '../../../isa/text/lexer.ts';
import type { Assembler } from '../assembler.ts';
import type { Location } from '../source.ts';
import {
  binaryExpr,
  constantExpr,
  FIELD_DIRECTIVES,
  type FieldDirective,
  fieldOf,
  type KernelBlock,
  setBits,
} from './kernel-block.ts';

/** Directives of other targets, with LLVM's complaint. */
const FOREIGN_DIRECTIVES: Readonly<Record<string, string>> = {
  '.amdhsa_wavefront_size32': 'directive requires gfx10+',
  '.amdhsa_memory_ordered': 'directive requires gfx10+',
  '.amdhsa_forward_progress': 'directive requires gfx10+',
  '.amdhsa_shared_vgpr_count': 'directive requires gfx10 or gfx11',
  '.amdhsa_inst_pref_size': 'directive requires gfx11+',
  '.amdhsa_round_robin_scheduling': 'directive requires gfx12+',
  '.amdhsa_named_barrier_count': 'directive requires gfx1250+',
};

const MAX_USER_SGPRS = 16n;
const U32 = (1n << 32n) - 1n;

/** Reads one block; the values of fields that must be known at once are checked here. */
class BlockReader {
  readonly kernel: KernelBlock;
  private readonly a: Assembler;
  private readonly lexer: Lexer;
  private readonly info: TargetInfo;
  private readonly seen = new Set<string>();
  private userSgprs = 0;
  private explicitUserSgprs: bigint | undefined;
  private preloadLength = 0n;
  private preloadOffset = 0n;
  private vgprRange: readonly [number, number] = [0, 1];
  private sgprRange: readonly [number, number] = [0, 1];

  constructor(a: Assembler, lexer: Lexer, info: TargetInfo, name: string) {
    this.a = a;
    this.lexer = lexer;
    this.info = info;
    const zero = constantExpr(0);
    const one = constantExpr(1);
    let first = setBits(zero, fieldOf(RSRC1_FIELDS, 'floatDenormMode16_64'), constantExpr(3));
    first = setBits(first, fieldOf(RSRC1_FIELDS, 'enableDx10Clamp'), one);
    first = setBits(first, fieldOf(RSRC1_FIELDS, 'enableIeeeMode'), one);
    this.kernel = {
      name,
      groupSegmentFixedSize: zero,
      privateSegmentFixedSize: zero,
      kernargSize: zero,
      nextFreeVgpr: zero,
      nextFreeSgpr: zero,
      accumOffset: zero,
      reserveVcc: one,
      reserveFlatScratch: one,
      rsrc1: first,
      rsrc2: setBits(zero, fieldOf(RSRC2_FIELDS, 'enableSgprWorkgroupIdX'), one),
      rsrc3: a.options.tgSplit === true ? setBits(zero, fieldOf(RSRC3_FIELDS, 'tgSplit'), one) : zero,
      properties: zero,
      preload: zero,
    };
  }

  private fail(at: number, message: string): false {
    this.lexer.fail(at, message);
    return false;
  }

  /** A diagnostic that marks the token at `at`. */
  private failToken(at: number, message: string): false {
    const name = /^\S*/.exec(this.lexer.text.slice(at, at + 256))?.[0] ?? '';
    this.a.failRange(this.lexer, at, name.length, message);
    return false;
  }

  /** A value that does not fit, the range from it to the end of its expression marked. */
  private outOfRange([at, end]: readonly [number, number]): false {
    this.a.failRange(this.lexer, at, end - at, 'value out of range');
    return false;
  }

  /** Reads up to `.end_amdhsa_kernel`; false after a diagnostic. */
  read(): boolean {
    const { lexer } = this;
    for (;;) {
      const { next } = lexer;
      if (!lexer.nextStatement()) return this.fail(lexer.start(), 'expected .amdhsa_ directive or .end_amdhsa_kernel');
      if (lexer.is(Tok.EndOfStatement)) continue;
      const at = lexer.start();
      if (!lexer.is(Tok.Identifier)) {
        if (this.a.options.reportCascades === true) lexer.next = next;
        return this.fail(at, 'expected .amdhsa_ directive or .end_amdhsa_kernel');
      }
      const name = lexer.tokenText();
      lexer.lex();
      if (name === '.end_amdhsa_kernel') return this.finish();
      if (this.seen.has(name)) return this.fail(lexer.start(), '.amdhsa_ directives cannot be repeated');
      this.seen.add(name);
      const valueAt = lexer.start();
      const expr = this.a.expression(lexer);
      if (expr === undefined) return false;
      const range = [valueAt, Math.max(lexer.start(), valueAt + 1)] as const;
      const value = this.a.evaluation.unplaced(expr);
      if (value !== undefined && value < 0n) return this.outOfRange(range);
      if (!this.directive(name, at, expr, value, range)) return false;
      if (!lexer.is(Tok.EndOfStatement)) return this.fail(lexer.start(), 'expected newline');
    }
  }

  private directive(
    name: string,
    at: number,
    expr: Expr,
    value: bigint | undefined,
    range: readonly [number, number],
  ): boolean {
    const field = FIELD_DIRECTIVES.get(name);
    if (field !== undefined) return this.field(field, at, expr, value, range);
    const { kernel } = this;
    switch (name) {
      case '.amdhsa_group_segment_fixed_size':
      case '.amdhsa_private_segment_fixed_size':
      case '.amdhsa_kernarg_size':
        if ((value ?? 0n) > U32) return this.outOfRange(range);
        if (name === '.amdhsa_group_segment_fixed_size') kernel.groupSegmentFixedSize = expr;
        else if (name === '.amdhsa_private_segment_fixed_size') kernel.privateSegmentFixedSize = expr;
        else kernel.kernargSize = expr;
        return true;
      case '.amdhsa_user_sgpr_count':
        if (value === undefined) return this.unresolved(at);
        this.explicitUserSgprs = value;
        return true;
      case '.amdhsa_user_sgpr_kernarg_preload_length':
      case '.amdhsa_user_sgpr_kernarg_preload_offset':
        return this.preload(name.endsWith('length'), at, expr, value, range);
      case '.amdhsa_next_free_vgpr':
        kernel.nextFreeVgpr = expr;
        this.vgprRange = range;
        return true;
      case '.amdhsa_next_free_sgpr':
        kernel.nextFreeSgpr = expr;
        this.sgprRange = range;
        return true;
      case '.amdhsa_accum_offset':
        kernel.accumOffset = expr;
        return true;
      case '.amdhsa_reserve_vcc':
        if (value !== undefined && value > 1n) return this.outOfRange(range);
        kernel.reserveVcc = expr;
        return true;
      case '.amdhsa_reserve_flat_scratch':
        if (this.info.architectedFlatScratch) {
          return this.failToken(at, 'directive is not supported with architected flat scratch');
        }
        if (value !== undefined && value > 1n) return this.outOfRange(range);
        kernel.reserveFlatScratch = expr;
        return true;
      case '.amdhsa_reserve_xnack_mask':
        if ((value ?? 0n) > 1n) return this.outOfRange(range);
        if ((value ?? 0n) !== (this.a.xnack ? 1n : 0n)) {
          return this.failToken(at, '.amdhsa_reserve_xnack_mask does not match target id');
        }
        return true;
    }
    if (name === '.amdhsa_workgroup_processor_mode')
      return this.failToken(at, `directive unsupported on ${this.info.name}`);
    const isImmediate = name === '.amdhsa_wavefront_size32' || name === '.amdhsa_shared_vgpr_count';
    if (isImmediate && value === undefined) return this.unresolved(at);
    const foreign = Object.hasOwn(FOREIGN_DIRECTIVES, name) ? FOREIGN_DIRECTIVES[name] : undefined;
    return this.failToken(at, foreign ?? 'unknown .amdhsa_kernel directive');
  }

  private unresolved(at: number): false {
    return this.failToken(at, 'directive should have resolvable expression');
  }

  private field(
    directive: FieldDirective,
    at: number,
    expr: Expr,
    value: bigint | undefined,
    range: readonly [number, number],
  ): boolean {
    const { architectedFlatScratch } = this.info;
    const isBuffer = directive.field.name === 'enableSgprPrivateSegmentBuffer';
    if (isBuffer && value === undefined) return this.unresolved(at);
    if (directive.flatScratch === 'not architected' && architectedFlatScratch) {
      return this.failToken(at, 'directive is not supported with architected flat scratch');
    }
    if (directive.flatScratch === 'architected' && !architectedFlatScratch) {
      return this.failToken(at, 'directive is not supported without architected flat scratch');
    }
    if (directive.immediate === true && value === undefined) return this.unresolved(at);
    if ((value ?? 0n) >= 1n << BigInt(directive.field.width)) return this.outOfRange(range);
    this.kernel[directive.word] = setBits(this.kernel[directive.word], directive.field, expr);
    if ((value ?? 0n) !== 0n) this.userSgprs += directive.userSgprs ?? 0;
    return true;
  }

  private preload(
    isLength: boolean,
    at: number,
    expr: Expr,
    value: bigint | undefined,
    range: readonly [number, number],
  ): boolean {
    if (value === undefined) return this.unresolved(at);
    if (!this.info.kernargPreload) return this.failToken(at, 'directive requires gfx90a+');
    if (isLength) {
      if (value > MAX_USER_SGPRS) return this.outOfRange(range);
      this.userSgprs += Number(value);
      this.preloadLength = value;
    } else {
      if (value >= 512n) return this.outOfRange(range);
      this.preloadOffset = value;
    }
    this.kernel.preload = setBits(this.kernel.preload, fieldOf(PRELOAD_FIELDS, isLength ? 'length' : 'offset'), expr);
    return true;
  }

  /** Checks what only the whole block tells, and sets the fields that follow from it. */
  private finish(): boolean {
    const { kernel, lexer } = this;
    const end = lexer.start();
    if (!this.seen.has('.amdhsa_next_free_vgpr')) return this.fail(end, '.amdhsa_next_free_vgpr directive is required');
    if (!this.seen.has('.amdhsa_next_free_sgpr')) return this.fail(end, '.amdhsa_next_free_sgpr directive is required');
    const userSgprs = this.explicitUserSgprs ?? BigInt(this.userSgprs);
    // Preloaded arguments occupy user SGPRs that the code may never name; the allocation must hold them all the same.
    if (this.preloadLength > 0n) {
      kernel.nextFreeSgpr = { kind: 'call', name: 'max', args: [kernel.nextFreeSgpr, constantExpr(userSgprs)] };
    }
    if (!this.registers()) return false;
    if (this.explicitUserSgprs !== undefined && BigInt(this.userSgprs) > this.explicitUserSgprs) {
      return this.fail(end, 'amdgpu_user_sgpr_count smaller than than implied by enabled user SGPRs');
    }
    if (userSgprs >= 32n) return this.fail(end, 'too many user SGPRs enabled');
    kernel.rsrc2 = setBits(kernel.rsrc2, fieldOf(RSRC2_FIELDS, 'userSgprCount'), constantExpr(userSgprs));
    const kernargSize = this.a.evaluation.unplaced(kernel.kernargSize);
    if (kernargSize === undefined) return this.fail(end, 'Kernarg size should be resolvable');
    const preloaded = 4n * (this.preloadLength + this.preloadOffset);
    if (this.preloadLength > 0n && kernargSize > 0n && preloaded > kernargSize) {
      return this.fail(end, 'Kernarg preload length + offset is larger than the kernarg segment size');
    }
    return this.accumOffset(end);
  }

  private registers(): boolean {
    const { kernel, info, a } = this;
    const sgprs = a.evaluation.unplaced(kernel.nextFreeSgpr);
    if (sgprs !== undefined && sgprs > BigInt(info.sgprAddressable)) return this.outOfRange(this.sgprRange);
    const extra: Expr = {
      kind: 'call',
      name: 'extrasgprs',
      args: [kernel.reserveVcc, kernel.reserveFlatScratch, constantExpr(a.xnack ? 1 : 0)],
    };
    const blocks = (count: Expr, granule: number): Expr => {
      const atLeastOne: Expr = { kind: 'call', name: 'max', args: [count, constantExpr(1)] };
      const aligned: Expr = { kind: 'call', name: 'alignto', args: [atLeastOne, constantExpr(granule)] };
      return binaryExpr('-', binaryExpr('/', aligned, constantExpr(granule)), constantExpr(1));
    };
    const vgprField = fieldOf(RSRC1_FIELDS, 'granulatedWorkitemVgprCount');
    const sgprField = fieldOf(RSRC1_FIELDS, 'granulatedWavefrontSgprCount');
    const vgprBlocks = blocks(kernel.nextFreeVgpr, 8);
    const sgprBlocks = blocks(binaryExpr('+', kernel.nextFreeSgpr, extra), 8);
    return (
      this.storeBlocks(vgprField, vgprBlocks, this.vgprRange) && this.storeBlocks(sgprField, sgprBlocks, this.sgprRange)
    );
  }

  private storeBlocks(field: DescriptorField, blocks: Expr, range: readonly [number, number]): boolean {
    const known = this.a.evaluation.unplaced(blocks);
    if (BigInt.asUintN(64, known ?? 0n) >= 1n << BigInt(field.width)) return this.outOfRange(range);
    this.kernel.rsrc1 = setBits(this.kernel.rsrc1, field, known === undefined ? blocks : constantExpr(known));
    return true;
  }

  private accumOffset(end: number): boolean {
    const { kernel, a } = this;
    if (!this.seen.has('.amdhsa_accum_offset')) return this.fail(end, '.amdhsa_accum_offset directive is required');
    const offset = a.evaluation.unplaced(kernel.accumOffset);
    if (offset !== undefined && (offset < 4n || offset > 256n || offset % 4n !== 0n)) {
      return this.fail(end, 'accum_offset should be in range [4..256] in increments of 4');
    }
    const vgprs = a.evaluation.unplaced(kernel.nextFreeVgpr);
    if (vgprs !== undefined && offset !== undefined && offset > (((vgprs > 1n ? vgprs : 1n) + 3n) / 4n) * 4n) {
      return this.fail(end, 'accum_offset exceeds total VGPR allocation');
    }
    const stored = binaryExpr('-', binaryExpr('/', kernel.accumOffset, constantExpr(4)), constantExpr(1));
    kernel.rsrc3 = setBits(kernel.rsrc3, fieldOf(RSRC3_FIELDS, 'accumOffset'), stored);
    return true;
  }
}

/** Skips to behind `.end_amdhsa_kernel`, so that one mistake in a block gives one diagnostic. */
function skipBlock(lexer: Lexer): void {
  const { next } = lexer;
  while (lexer.nextStatement()) if (lexer.isIdentifier('.end_amdhsa_kernel')) return;
  lexer.next = next;
}

/** `.amdhsa_kernel name`. */
export function kernelDirective(a: Assembler, lexer: Lexer, offset: number): void {
  const info = a.requireTarget(lexer, offset);
  if (info === undefined) return;
  const location = a.location(offset);
  const name = a.identifier(lexer);
  if (name === undefined) {
    if (a.options.reportCascades === true) lexer.fail(offset, 'unknown directive');
    else lexer.fail(lexer.start(), 'expected a kernel name');
    return;
  }
  if (!lexer.is(Tok.EndOfStatement)) {
    lexer.fail(lexer.start(), 'expected .amdhsa_ directive or .end_amdhsa_kernel');
    if (a.options.reportCascades !== true) skipBlock(lexer);
    return;
  }
  const reader = new BlockReader(a, lexer, info, name);
  if (!reader.read()) {
    if (a.options.reportCascades !== true && !lexer.isIdentifier('.end_amdhsa_kernel')) skipBlock(lexer);
    return;
  }
  emitDescriptor(a, reader.kernel, location);
  a.streamer?.kernel(a, info, reader.kernel);
  a.leaveEndOfStatement(lexer);
}

/** Writes the 64 bytes and defines `name.kd` (AMDGPUTargetELFStreamer::EmitAmdhsaKernelDescriptor). */
function emitDescriptor(a: Assembler, kernel: KernelBlock, location: Location): void {
  const code = a.symbols.getOrCreate(kernel.name);
  code.location ??= location;
  const descriptor = a.symbols.getOrCreate(`${kernel.name}.kd`);
  if (descriptor.isDefined) {
    a.error(location, `symbol '${descriptor.name}' is already defined`);
    return;
  }
  descriptor.location = location;
  descriptor.binding = code.elfBinding(code.isDefined);
  descriptor.visibility = code.visibility;
  descriptor.type = SymbolType.OBJECT;
  descriptor.size = constantExpr(64);
  if (code.visibility === SymbolVisibility.DEFAULT) code.visibility = SymbolVisibility.PROTECTED;
  const { emitter } = a;
  emitter.label(descriptor);
  const zeros = (count: number) => emitter.bytes(new Uint8Array(count));
  const value = (expr: Expr, size: number) => {
    const constant = a.evaluation.unplaced(expr);
    emitter.value(constant === undefined ? expr : constantExpr(constant), size, location);
  };
  value(kernel.groupSegmentFixedSize, 4);
  value(kernel.privateSegmentFixedSize, 4);
  value(kernel.kernargSize, 4);
  zeros(4);
  const entry: Expr = { kind: 'symbol', name: code.key, specifier: 'rel64' };
  emitter.value(binaryExpr('-', entry, { kind: 'symbol', name: descriptor.key }), 8, location);
  zeros(20);
  value(kernel.rsrc3, 4);
  value(kernel.rsrc1, 4);
  value(kernel.rsrc2, 4);
  value(kernel.properties, 2);
  value(kernel.preload, 2);
  zeros(4);
}
