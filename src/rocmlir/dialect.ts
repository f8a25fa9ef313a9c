// The `migraphx` dialect: every operation that rocMLIR's definitions have (generated/migraphx.ts, by name), those that only its tests
// show, and what becomes of each operation and attribute here. The table of docs/migraphx-operations.md is printed from this.
import { DEFINED_OPERATIONS, type DefinedOperation } from './generated/migraphx.ts';
import { FALLS_BACK, LOWERINGS, WRITTEN_OUT } from './lower/operations.ts';

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
  /** Where the operation is known from. */
  readonly from: 'definition' | 'tests';
}

const defined = (name: string, operands: readonly string[], attributes: readonly string[] = []): DefinedOperation => ({
  name,
  operands: operands.map((operand) => ({
    name: operand.replace('?', ''),
    count: operand.endsWith('?') ? 'optional' : 'one',
    type: '',
  })),
  attributes: attributes.map((attribute) => ({ name: attribute, type: '', optional: true })),
});

/** Operations of rocMLIR's tests that no definition shows which could be read, and MIGraphX's own names of the same kind. */
const FROM_TESTS: readonly DefinedOperation[] = [
  ...['greater_or_equal', 'less', 'less_or_equal', 'min'].map((name) => defined(name, ['inA', 'inB'])),
  defined('gelu', ['inA']),
  defined(
    'attention',
    ['queries', 'keys', 'values', 'preSoftmaxInputs', 'currentSeqLen?', 'prefixOffset?'],
    ['softmax_type', 'perf_config', 'features', 'splitKV', 'slidingWindowSize'],
  ),
];
/** Attributes that modules have beside those of the definitions. */
const MORE_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  convert: ['target_type'],
  multibroadcast: ['out_dyn_dims'],
  unpack: ['isUnsigned'],
  quant_dot: ['perf_config'],
};

const TUNING = 'ignored: it tunes rocMLIR’s own kernel';
const IN_TYPE = 'ignored: the result’s type says it';
/** Uses of attributes that are not just lowered, by name or `operation.name`. */
const USES: Readonly<Record<string, string>> = {
  perf_config: TUNING,
  target_type: IN_TYPE,
  dims: IN_TYPE,
  'flatten.axis': IN_TYPE,
  out_dyn_dims: 'ignored: shapes are static',
  momentum: 'ignored: it belongs to training',
  padding_mode: '0; another where `padding` gives the sizes it asks for, else falls back',
  'pad.mode': '0; 1 and 2 fall back',
  isUnsigned: 'lowered: false extends the sign',
  ...Object.fromEntries(
    ['features', 'splitKV', 'slidingWindowSize'].map((name) => [`attention.${name}`, 'falls back']),
  ),
};

const FLOATS = 'floats';
const ANY = 'floats, integers';
const each = (names: string, remark: string): Readonly<Record<string, string>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, remark]));
const REMARKS: Readonly<Record<string, string>> = {
  literal: 'splat, list, hexadecimal bytes, resource; not of 4-bit elements or f8E8M0FNU',
  ...each('add sub mul div max min clip abs neg relu reduce_sum reduce_mean reduce_max', ANY),
  ...each('pow ceil floor erf exp gelu log recip rsqrt sigmoid sqrt tanh softmax batch_norm_inference', FLOATS),
  ...each('greater greater_or_equal less less_or_equal equal', `${ANY}; 1 or 0 in the operands’ type`),
  where: 'the condition is i8, si8, ui8 or wider',
  convert: 'between all types but to f4E2M1FN; to f8E8M0FNU the exponent alone is kept',
  unpack: 'bytes to the two halves of each; halves are zero-extended',
  quantizelinear: 'to integers and 8-bit floats',
  dequantizelinear: 'from integers and 8-bit floats',
  ...each('mlir.as.logical.shape mlir.as.underlying.shape', 'a view'),
  ...each('convolution backwards_data_convolution', '1 to 3 spatial dimensions'),
  quant_convolution: 'i8 and 8-bit floats',
  pad: 'constant',
  dot: 'batches repeat',
  quant_dot: 'i8, 8-bit floats, f4E2M1FN; with both scales or none',
  attention:
    'written out as dot, its region, softmax, dot; neighbouring heads share keys and values; second result: log-sum-exp',
  yield: 'of the region of `attention`',
};

function describe({ name, operands, attributes }: DefinedOperation, from: DialectOperation['from']): DialectOperation {
  const marks = { one: '', optional: '?', variadic: '…' } as const;
  const names = [...new Set([...attributes.map((a) => a.name), ...(MORE_ATTRIBUTES[name] ?? [])])];
  const lowered = operationStatus(name)?.lowered === true;
  return {
    name,
    operands: operands.map((operand) => `${operand.name}${marks[operand.count]}`).join(', '),
    attributes: names.map((attribute) => ({
      name: attribute,
      use: !lowered ? 'falls back' : (USES[`${name}.${attribute}`] ?? USES[attribute] ?? 'lowered'),
    })),
    remark: REMARKS[name] ?? '',
    from,
  };
}

/** Lowered, or why rocMLIR's own kernel is used; undefined for a name that the dialect does not have. */
export function operationStatus(name: string): { readonly lowered: boolean; readonly why: string } | undefined {
  const full = `migraphx.${name}`;
  if (Object.hasOwn(LOWERINGS, full) || WRITTEN_OUT.has(full)) return { lowered: true, why: '' };
  if (Object.hasOwn(FALLS_BACK, full)) return { lowered: false, why: FALLS_BACK[full] };
  return undefined;
}

/** Every operation of the dialect, by name. */
export const MIGRAPHX_OPERATIONS: readonly DialectOperation[] = [
  ...DEFINED_OPERATIONS.map((operation) => describe(operation, 'definition')),
  ...FROM_TESTS.filter(({ name }) => !DEFINED_OPERATIONS.some((known) => known.name === name)).map((operation) =>
    describe(operation, 'tests'),
  ),
].sort((a, b) => (a.name < b.name ? -1 : 1));

/** The table as Markdown. */
export function operationTable(): string {
  const rows = MIGRAPHX_OPERATIONS.map(({ name, operands, attributes, remark, from }) => {
    const status = operationStatus(name);
    const uses = attributes.map((a) => (a.use === 'lowered' ? `\`${a.name}\`` : `\`${a.name}\` (${a.use})`)).join(', ');
    const what = status?.lowered ? 'lowered' : 'falls back';
    return `| \`${name}\`${from === 'tests' ? ' *' : ''} | ${operands} | ${uses} | ${what} | ${status?.why || remark} |`;
  });
  return `# Operations of the migraphx dialect

Printed by \`wavesmith rocmlir operations\`. Names, operands and attributes are those of rocMLIR's \`MIGraphX.td\`, which
\`tools/gen-migraphx\` reads; operations with a star are known from rocMLIR's tests alone. *Lowered*: the
operation becomes part of IREE's kernels. *Falls back*: a module with it keeps rocMLIR's own kernel, and the error
\`rocmlir/unsupported-operation\` names the operation and its line.

| operation | operands | attributes | here | types, or why |
|---|---|---|---|---|
${rows.join('\n')}

Element types: f64, f32, f16, bf16, f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ; i8 to i64, si8 to si64, ui8 to ui64, i1; f8E8M0FNU; read but
not made: f4E2M1FN (two in a byte), i4, ui4. A chip that lacks an 8-bit float computes it in software; IREE 3.13's makes zero of results
below the smallest normal value.
`;
}
