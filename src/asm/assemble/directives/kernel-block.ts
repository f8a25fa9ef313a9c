// A kernel as its `.amdhsa_kernel` block describes it, and the directives that set one field of it.
// Sources: AMDGPUMCKernelDescriptor.cpp; LLVM's AMDGPUUsage, "AMDHSA Kernel Assembler Directives".

import {
  CODE_PROPERTY_FIELDS,
  type DescriptorField,
  RSRC1_FIELDS,
  RSRC2_FIELDS,
  RSRC3_FIELDS,
} from '../../../codeobject/kernel/descriptor.ts';
import type { BinaryOperator, Expr } from '../../../isa/text/expr-tree.ts';

/** The words of a descriptor that are made of fields. */
export interface DescriptorWords {
  rsrc1: Expr;
  rsrc2: Expr;
  rsrc3: Expr;
  properties: Expr;
  preload: Expr;
}
type Word = keyof DescriptorWords;

/** A kernel as read from its block. */
export interface KernelBlock extends DescriptorWords {
  readonly name: string;
  groupSegmentFixedSize: Expr;
  privateSegmentFixedSize: Expr;
  kernargSize: Expr;
  nextFreeVgpr: Expr;
  nextFreeSgpr: Expr;
  accumOffset: Expr;
  reserveVcc: Expr;
  reserveFlatScratch: Expr;
}

/** A directive that sets one field. */
export interface FieldDirective {
  readonly word: Word;
  readonly field: DescriptorField;
  /** User SGPRs that the feature takes. */
  readonly userSgprs?: number;
  /** The value must be known at once. */
  readonly immediate?: boolean;
  /** Only without (or only with) architected flat scratch. */
  readonly flatScratch?: 'architected' | 'not architected';
}

export function fieldOf(fields: readonly DescriptorField[], name: string): DescriptorField {
  const found = fields.find((f) => f.name === name);
  if (found === undefined) throw new Error(`descriptor has no field '${name}'`);
  return found;
}

const rsrc1 = (name: string): FieldDirective => ({ word: 'rsrc1', field: fieldOf(RSRC1_FIELDS, name) });
const rsrc2 = (name: string): FieldDirective => ({ word: 'rsrc2', field: fieldOf(RSRC2_FIELDS, name) });
const rsrc3 = (name: string): FieldDirective => ({ word: 'rsrc3', field: fieldOf(RSRC3_FIELDS, name) });
const property = (name: string, userSgprs: number): FieldDirective => ({
  word: 'properties',
  field: fieldOf(CODE_PROPERTY_FIELDS, name),
  userSgprs,
  immediate: true,
});
const privateSegment = rsrc2('enablePrivateSegment');

/** Directives that set a field, by name. */
export const FIELD_DIRECTIVES: ReadonlyMap<string, FieldDirective> = new Map([
  [
    '.amdhsa_user_sgpr_private_segment_buffer',
    { ...property('enableSgprPrivateSegmentBuffer', 4), flatScratch: 'not architected' },
  ],
  ['.amdhsa_user_sgpr_dispatch_ptr', property('enableSgprDispatchPtr', 2)],
  ['.amdhsa_user_sgpr_queue_ptr', property('enableSgprQueuePtr', 2)],
  ['.amdhsa_user_sgpr_kernarg_segment_ptr', property('enableSgprKernargSegmentPtr', 2)],
  ['.amdhsa_user_sgpr_dispatch_id', property('enableSgprDispatchId', 2)],
  [
    '.amdhsa_user_sgpr_flat_scratch_init',
    { ...property('enableSgprFlatScratchInit', 2), flatScratch: 'not architected' },
  ],
  ['.amdhsa_user_sgpr_private_segment_size', property('enableSgprPrivateSegmentSize', 1)],
  ['.amdhsa_uses_dynamic_stack', { word: 'properties', field: fieldOf(CODE_PROPERTY_FIELDS, 'usesDynamicStack') }],
  ['.amdhsa_system_sgpr_private_segment_wavefront_offset', { ...privateSegment, flatScratch: 'not architected' }],
  ['.amdhsa_enable_private_segment', { ...privateSegment, flatScratch: 'architected' }],
  ['.amdhsa_system_sgpr_workgroup_id_x', rsrc2('enableSgprWorkgroupIdX')],
  ['.amdhsa_system_sgpr_workgroup_id_y', rsrc2('enableSgprWorkgroupIdY')],
  ['.amdhsa_system_sgpr_workgroup_id_z', rsrc2('enableSgprWorkgroupIdZ')],
  ['.amdhsa_system_sgpr_workgroup_info', rsrc2('enableSgprWorkgroupInfo')],
  ['.amdhsa_system_vgpr_workitem_id', rsrc2('enableVgprWorkitemId')],
  ['.amdhsa_float_round_mode_32', rsrc1('floatRoundMode32')],
  ['.amdhsa_float_round_mode_16_64', rsrc1('floatRoundMode16_64')],
  ['.amdhsa_float_denorm_mode_32', rsrc1('floatDenormMode32')],
  ['.amdhsa_float_denorm_mode_16_64', rsrc1('floatDenormMode16_64')],
  ['.amdhsa_dx10_clamp', rsrc1('enableDx10Clamp')],
  ['.amdhsa_ieee_mode', rsrc1('enableIeeeMode')],
  ['.amdhsa_fp16_overflow', rsrc1('fp16Ovfl')],
  ['.amdhsa_tg_split', rsrc3('tgSplit')],
  ['.amdhsa_exception_fp_ieee_invalid_op', rsrc2('enableExceptionFpInvalidOperation')],
  ['.amdhsa_exception_fp_denorm_src', rsrc2('enableExceptionFpDenormalSource')],
  ['.amdhsa_exception_fp_ieee_div_zero', rsrc2('enableExceptionFpDivisionByZero')],
  ['.amdhsa_exception_fp_ieee_overflow', rsrc2('enableExceptionFpOverflow')],
  ['.amdhsa_exception_fp_ieee_underflow', rsrc2('enableExceptionFpUnderflow')],
  ['.amdhsa_exception_fp_ieee_inexact', rsrc2('enableExceptionFpInexact')],
  ['.amdhsa_exception_int_div_zero', rsrc2('enableExceptionIntDivideByZero')],
]);

export function constantExpr(value: number | bigint): Expr {
  return { kind: 'const', value: BigInt(value) };
}

export function binaryExpr(op: BinaryOperator, lhs: Expr, rhs: Expr): Expr {
  return { kind: 'binary', op, lhs, rhs };
}

function mask(field: DescriptorField): bigint {
  return ((1n << BigInt(field.width)) - 1n) << BigInt(field.shift);
}

/** `(word & ~mask) | (value << shift)`. */
export function setBits(word: Expr, field: DescriptorField, value: Expr): Expr {
  const cleared = binaryExpr('&', word, { kind: 'unary', op: '~', sub: constantExpr(mask(field)) });
  return binaryExpr('|', cleared, binaryExpr('<<', value, constantExpr(field.shift)));
}

/** `(word & mask) >> shift`. */
export function getBits(word: Expr, field: DescriptorField): Expr {
  return binaryExpr('>>', binaryExpr('&', word, constantExpr(mask(field))), constantExpr(field.shift));
}
