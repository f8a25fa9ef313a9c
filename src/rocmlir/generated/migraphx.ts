// The migraphx dialect by name. Written by tools/gen-migraphx; do not edit.
// Source: ROCm/rocMLIR@e76ba5e mlir/include/mlir/Dialect/MIGraphX/IR/MIGraphX.td; ROCm/rocMLIR@fa22869.

/** An operation as its definition has it. */
export interface DefinedOperation {
  readonly name: string;
  readonly operands: readonly { readonly name: string; readonly count: 'one' | 'optional' | 'variadic'; readonly type: string }[];
  readonly attributes: readonly { readonly name: string; readonly type: string; readonly optional: boolean }[];
}

/** By name. */
export const DEFINED_OPERATIONS: readonly DefinedOperation[] = [
  { name: 'abs', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'add', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }, { name: 'inB', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'backwards_data_convolution', operands: [{ name: 'input', count: 'one', type: 'MIXRShapedOf<[F32, F16, BF16]>' }, { name: 'filter', count: 'one', type: 'MIXRShapedOf<[F32, F16, BF16]>' }], attributes: [{ name: 'padding', type: 'I64ArrayAttr', optional: false }, { name: 'stride', type: 'I64ArrayAttr', optional: false }, { name: 'dilation', type: 'I64ArrayAttr', optional: false }, { name: 'group', type: 'I64Attr', optional: false }, { name: 'padding_mode', type: 'I64Attr', optional: true }, { name: 'perf_config', type: 'StrAttr', optional: true }] },
  { name: 'batch_norm_inference', operands: [{ name: 'input', count: 'one', type: 'AnyMIXRShaped' }, { name: 'a', count: 'one', type: 'AnyMIXRShaped' }, { name: 'b', count: 'one', type: 'AnyMIXRShaped' }, { name: 'c', count: 'one', type: 'AnyMIXRShaped' }, { name: 'd', count: 'one', type: 'AnyMIXRShaped' }], attributes: [{ name: 'epsilon', type: 'F32Attr', optional: false }, { name: 'momentum', type: 'F32Attr', optional: false }, { name: 'bn_mode', type: 'I64Attr', optional: false }] },
  { name: 'broadcast', operands: [{ name: 'input', count: 'one', type: 'AnyMIXRShaped' }], attributes: [{ name: 'axis', type: 'I64Attr', optional: false }, { name: 'out_lens', type: 'I64ArrayAttr', optional: false }] },
  { name: 'ceil', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'clip', operands: [{ name: 'x', count: 'one', type: 'AnyMIXRShaped' }, { name: 'minVals', count: 'one', type: 'AnyMIXRShaped' }, { name: 'maxVals', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'code_object', operands: [{ name: 'kernelArgs', count: 'variadic', type: 'AnyType' }], attributes: [{ name: 'kernel', type: 'SymbolRefAttr', optional: false }, { name: 'globalSize', type: 'I64ArrayAttr', optional: false }, { name: 'localSize', type: 'I64ArrayAttr', optional: false }] },
  { name: 'convert', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'convolution', operands: [{ name: 'input', count: 'one', type: 'MIXRShapedOf<[F32, F16, BF16, F8E4M3FNUZ, F8E5M2FNUZ, F8E5M2, F8E4M3FN]>' }, { name: 'filter', count: 'one', type: 'MIXRShapedOf<[F32, F16, BF16, F8E4M3FNUZ, F8E5M2FNUZ, F8E5M2, F8E4M3FN]>' }], attributes: [{ name: 'padding', type: 'I64ArrayAttr', optional: false }, { name: 'stride', type: 'I64ArrayAttr', optional: false }, { name: 'dilation', type: 'I64ArrayAttr', optional: false }, { name: 'group', type: 'I64Attr', optional: false }, { name: 'padding_mode', type: 'I64Attr', optional: true }, { name: 'perf_config', type: 'StrAttr', optional: true }] },
  { name: 'dequantizelinear', operands: [{ name: 'input', count: 'one', type: 'MIXRShapedOf<[AnyInteger, AnyFloat]>' }, { name: 'scale', count: 'one', type: 'MIXRShapedOf<[AnyFloat]>' }, { name: 'bias', count: 'optional', type: 'MIXRShapedOf<[AnyInteger, AnyFloat]>' }], attributes: [] },
  { name: 'div', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }, { name: 'inB', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'dot', operands: [{ name: 'in_a', count: 'one', type: 'MIXRShapedOf<[F32, F16, BF16, F4E2M1FN]>' }, { name: 'in_b', count: 'one', type: 'MIXRShapedOf<[F32, F16, BF16, F4E2M1FN]>' }], attributes: [] },
  { name: 'equal', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }, { name: 'inB', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'erf', operands: [{ name: 'inA', count: 'one', type: 'MIXRShapedOf<[AnyFloat]>' }], attributes: [] },
  { name: 'exp', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'flatten', operands: [{ name: 'input', count: 'one', type: 'AnyMIXRShaped' }], attributes: [{ name: 'axis', type: 'I64Attr', optional: false }] },
  { name: 'floor', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'greater', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }, { name: 'inB', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'literal', operands: [], attributes: [{ name: 'value', type: 'ElementsAttr', optional: false }] },
  { name: 'log', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'max', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }, { name: 'inB', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'mlir.as.logical.shape', operands: [{ name: 'in', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'mlir.as.underlying.shape', operands: [{ name: 'in', count: 'one', type: 'AnyRankedTensor' }], attributes: [] },
  { name: 'mul', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }, { name: 'inB', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'multibroadcast', operands: [{ name: 'input', count: 'one', type: 'AnyMIXRShaped' }], attributes: [{ name: 'out_lens', type: 'I64ArrayAttr', optional: false }] },
  { name: 'neg', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'pad', operands: [{ name: 'input', count: 'one', type: 'AnyMIXRShaped' }], attributes: [{ name: 'pads', type: 'I64ArrayAttr', optional: false }, { name: 'value', type: 'F32Attr', optional: false }, { name: 'mode', type: 'PadOpModeAttr', optional: false }] },
  { name: 'pooling', operands: [{ name: 'input', count: 'one', type: 'AnyMIXRShaped' }], attributes: [{ name: 'mode', type: 'StrAttr', optional: false }, { name: 'padding', type: 'I64ArrayAttr', optional: false }, { name: 'stride', type: 'I64ArrayAttr', optional: false }, { name: 'length', type: 'I64ArrayAttr', optional: false }, { name: 'ceil_mode', type: 'I64Attr', optional: false }] },
  { name: 'pow', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }, { name: 'inB', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'quant_convolution', operands: [{ name: 'input', count: 'one', type: 'MIXRShapedOf<[F8E4M3FNUZ, F8E5M2FNUZ, F8E5M2, F8E4M3FN, I8, SI8]>' }, { name: 'filter', count: 'one', type: 'MIXRShapedOf<[F8E4M3FNUZ, F8E5M2FNUZ, F8E5M2, F8E4M3FN, I8, SI8]>' }], attributes: [{ name: 'padding', type: 'I64ArrayAttr', optional: false }, { name: 'stride', type: 'I64ArrayAttr', optional: false }, { name: 'dilation', type: 'I64ArrayAttr', optional: false }, { name: 'group', type: 'I64Attr', optional: false }, { name: 'padding_mode', type: 'I64Attr', optional: true }, { name: 'perf_config', type: 'StrAttr', optional: true }] },
  { name: 'quant_dot', operands: [{ name: 'in_a', count: 'one', type: 'MIXRShapedOf<[F8E4M3FNUZ, F8E5M2FNUZ, F8E4M3FN, F8E5M2, F4E2M1FN, I8, SI8]>' }, { name: 'in_b', count: 'one', type: 'MIXRShapedOf<[F8E4M3FNUZ, F8E5M2FNUZ, F8E4M3FN, F8E5M2, F4E2M1FN, I8, SI8]>' }, { name: 'scaleA', count: 'optional', type: 'MIXRShapedOf<[F8E8M0FNU, F32]>' }, { name: 'scaleB', count: 'optional', type: 'MIXRShapedOf<[F8E8M0FNU, F32]>' }], attributes: [] },
  { name: 'quantizelinear', operands: [{ name: 'input', count: 'one', type: 'MIXRShapedOf<[AnyFloat]>' }, { name: 'scale', count: 'one', type: 'MIXRShapedOf<[AnyFloat]>' }, { name: 'bias', count: 'optional', type: 'MIXRShapedOf<[AnyInteger, AnyFloat]>' }], attributes: [] },
  { name: 'recip', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'reduce_max', operands: [{ name: 'input', count: 'one', type: 'AnyMIXRShaped' }], attributes: [{ name: 'axes', type: 'I64ArrayAttr', optional: false }] },
  { name: 'reduce_mean', operands: [{ name: 'input', count: 'one', type: 'AnyMIXRShaped' }], attributes: [{ name: 'axes', type: 'I64ArrayAttr', optional: false }] },
  { name: 'reduce_sum', operands: [{ name: 'input', count: 'one', type: 'AnyMIXRShaped' }], attributes: [{ name: 'axes', type: 'I64ArrayAttr', optional: false }] },
  { name: 'relu', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'reshape', operands: [{ name: 'input', count: 'one', type: 'AnyMIXRShaped' }], attributes: [{ name: 'dims', type: 'I64ArrayAttr', optional: false }] },
  { name: 'rsqrt', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'sigmoid', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'slice', operands: [{ name: 'input', count: 'one', type: 'AnyMIXRShaped' }], attributes: [{ name: 'axes', type: 'I64ArrayAttr', optional: false }, { name: 'ends', type: 'I64ArrayAttr', optional: false }, { name: 'starts', type: 'I64ArrayAttr', optional: false }] },
  { name: 'softmax', operands: [{ name: 'input', count: 'one', type: 'AnyMIXRShaped' }], attributes: [{ name: 'axis', type: 'I64Attr', optional: false }] },
  { name: 'sqrt', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'sub', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }, { name: 'inB', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'tanh', operands: [{ name: 'inA', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'transpose', operands: [{ name: 'input', count: 'one', type: 'AnyMIXRShaped' }], attributes: [{ name: 'permutation', type: 'I64ArrayAttr', optional: false }] },
  { name: 'unpack', operands: [{ name: 'in', count: 'one', type: 'MIXRShapedOf<[I8, UI8, SI8, I<4>, SI<4>, UI<4>]>' }], attributes: [{ name: 'axis', type: 'I64Attr', optional: false }] },
  { name: 'where', operands: [{ name: 'cond', count: 'one', type: 'MIXRShapedOf<[I8, SI8, UI8]>' }, { name: 'inA', count: 'one', type: 'AnyMIXRShaped' }, { name: 'inB', count: 'one', type: 'AnyMIXRShaped' }], attributes: [] },
  { name: 'yield', operands: [{ name: 'value', count: 'optional', type: 'AnyType' }], attributes: [] },
];
