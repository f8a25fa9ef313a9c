// The `migraphx` dialect by name: every operation with its operands and attributes, and what becomes of each here. The table of
// docs/migraphx-operations.md is printed from this.
// Source: rocMLIR's mlir/include/mlir/Dialect/MIGraphX/IR/MIGraphX.td (2022 to 2026) and its tests, for operations without a
// definition in the versions that could be read (`max`, `greater_or_equal`, `attention`).
import { FALLS_BACK, LOWERINGS } from './lower/operations.ts';

/** What the lowering does with an attribute. */
export interface DialectAttribute {
  readonly name: string;
  readonly use: string;
}

export interface DialectOperation {
  /** Without `migraphx.`. */
  readonly name: string;
  readonly operands: string;
  readonly attributes: readonly DialectAttribute[];
  readonly remark: string;
}

const attribute = (name: string, use = 'lowered'): DialectAttribute => ({ name, use });
const operation = (
  name: string,
  operands: string,
  remark: string,
  ...attributes: readonly DialectAttribute[]
): DialectOperation => ({ name, operands, attributes, remark });

const IGNORED_DYNAMIC = attribute('out_dyn_dims', 'ignored: shapes are static');
const CONVOLUTION = [
  attribute('padding'),
  attribute('stride'),
  attribute('dilation'),
  attribute('group'),
  attribute('padding_mode', '0; another where `padding` gives the sizes it asks for, else falls back'),
  attribute('perf_config', 'ignored: it tunes rocMLIR’s own kernel'),
];
const FLOATS = 'floats';
const ANY = 'floats, integers';

/** Every operation of the dialect. */
export const MIGRAPHX_OPERATIONS: readonly DialectOperation[] = [
  operation(
    'literal',
    '',
    'splat, list, hexadecimal bytes, resource; not of 4-bit elements or f8E8M0FNU',
    attribute('value'),
  ),
  ...['add', 'sub', 'mul', 'div', 'max', 'min'].map((name) => operation(name, 'inA, inB', ANY)),
  operation('pow', 'inA, inB', FLOATS),
  ...['greater', 'greater_or_equal', 'less', 'less_or_equal', 'equal'].map((name) =>
    operation(name, 'inA, inB', `${ANY}; 1 or 0 in the operands’ type`),
  ),
  operation('clip', 'x, minVals, maxVals', ANY),
  operation('where', 'cond, inA, inB', 'the condition is i8, si8, ui8 or wider'),
  operation(
    'convert',
    'inA',
    'between all types; not to f4E2M1FN or f8E8M0FNU',
    attribute('target_type', 'ignored: the result’s type says it'),
  ),
  ...['abs', 'neg', 'relu'].map((name) => operation(name, 'inA', ANY)),
  ...['ceil', 'floor', 'erf', 'exp', 'gelu', 'log', 'recip', 'rsqrt', 'sigmoid', 'sqrt', 'tanh'].map((name) =>
    operation(name, 'inA', FLOATS),
  ),
  operation(
    'unpack',
    'in',
    'bytes to the two halves of each; halves are zero-extended',
    attribute('axis'),
    attribute('isUnsigned', 'lowered: false extends the sign'),
  ),
  operation('quantizelinear', 'input, scale, bias?', 'to integers and 8-bit floats'),
  operation('dequantizelinear', 'input, scale, bias?', 'from integers and 8-bit floats'),
  operation('mlir.as.logical.shape', 'in', 'a view'),
  operation('mlir.as.underlying.shape', 'in', 'a view'),
  operation('convolution', 'input, filter', '1 to 3 spatial dimensions', ...CONVOLUTION),
  operation('quant_convolution', 'input, filter', 'i8 and 8-bit floats', ...CONVOLUTION),
  operation('backwards_data_convolution', 'input, filter', '1 to 3 spatial dimensions', ...CONVOLUTION),
  operation(
    'batch_norm_inference',
    'input, scale, bias, mean, variance',
    FLOATS,
    attribute('epsilon'),
    attribute('momentum', 'ignored: it belongs to training'),
    attribute('bn_mode'),
  ),
  operation(
    'pad',
    'input',
    'constant',
    attribute('pads'),
    attribute('value'),
    attribute('mode', '0; 1 and 2 fall back'),
  ),
  operation(
    'pooling',
    'input',
    '',
    ...['mode', 'padding', 'stride', 'length', 'ceil_mode'].map((name) => attribute(name, 'falls back')),
  ),
  operation('flatten', 'input', '', attribute('axis', 'ignored: the result’s type says it')),
  operation('transpose', 'input', '', attribute('permutation')),
  operation('reshape', 'input', '', attribute('dims', 'ignored: the result’s type says it')),
  operation('slice', 'input', '', attribute('axes'), attribute('starts'), attribute('ends')),
  operation('broadcast', 'input', '', attribute('axis'), attribute('out_lens')),
  operation('multibroadcast', 'input', '', attribute('out_lens'), IGNORED_DYNAMIC),
  operation('dot', 'in_a, in_b', 'batches repeat'),
  operation(
    'quant_dot',
    'in_a, in_b, scaleA?, scaleB?',
    'i8, 8-bit floats, f4E2M1FN; with both scales or none',
    attribute('perf_config', 'ignored: it tunes rocMLIR’s own kernel'),
  ),
  operation('softmax', 'input', FLOATS, attribute('axis')),
  ...['reduce_sum', 'reduce_mean', 'reduce_max'].map((name) => operation(name, 'input', ANY, attribute('axes'))),
  operation(
    'attention',
    'queries, keys, values, preSoftmaxInputs, currentSeqLen?, prefixOffset?',
    '',
    ...['features', 'softmax_type', 'splitKV', 'slidingWindowSize'].map((name) => attribute(name, 'falls back')),
  ),
  operation('yield', '', ''),
  operation(
    'code_object',
    'kernelArgs',
    '',
    ...['kernel', 'globalSize', 'localSize'].map((name) => attribute(name, 'falls back')),
  ),
];

/** Lowered, or why rocMLIR's own kernel is used; undefined for a name that the dialect does not have. */
export function operationStatus(name: string): { readonly lowered: boolean; readonly why: string } | undefined {
  const full = `migraphx.${name}`;
  if (Object.hasOwn(LOWERINGS, full)) return { lowered: true, why: '' };
  if (Object.hasOwn(FALLS_BACK, full)) return { lowered: false, why: FALLS_BACK[full] };
  return undefined;
}

/** The table as Markdown. */
export function operationTable(): string {
  const rows = MIGRAPHX_OPERATIONS.map(({ name, operands, attributes, remark }) => {
    const status = operationStatus(name);
    const uses = attributes.map((a) => (a.use === 'lowered' ? `\`${a.name}\`` : `\`${a.name}\` (${a.use})`)).join(', ');
    const what = status?.lowered ? 'lowered' : 'falls back';
    return `| \`${name}\` | ${operands} | ${uses} | ${what} | ${status?.why || remark} |`;
  });
  return `# Operations of the migraphx dialect

Printed by \`wavesmith rocmlir operations\`. *Lowered*: the operation becomes part of IREE's kernels. *Falls back*: a module with it keeps
rocMLIR's own kernel, and the error \`rocmlir/unsupported-operation\` names the operation and its line.

| operation | operands | attributes | here | types, or why |
|---|---|---|---|---|
${rows.join('\n')}

Element types: f64, f32, f16, bf16, f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ; i8 to i64, si8 to si64, ui8 to ui64, i1; read but not made:
f4E2M1FN (two in a byte), f8E8M0FNU, i4, ui4. A chip that lacks an 8-bit float computes it in software; IREE 3.13's makes zero of results
below the smallest normal value.
`;
}
