// Fuzz target: MLIR text: tokens, operations, attributes, launches, lowering, and the edits of gen and merge.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDictionary } from '../../src/mlir/attribute.ts';
import { Edits, setModuleAttribute } from '../../src/mlir/edit.ts';
import { decodeModule } from '../../src/mlir/lex.ts';
import { parseMlir, walk } from '../../src/mlir/parse.ts';
import { readHostProgram } from '../../src/rocmlir/host-program.ts';
import { launchOperations } from '../../src/rocmlir/launch.ts';
import { lowerModule } from '../../src/rocmlir/lower/lower.ts';
import { renumberBindings } from '../../src/rocmlir/lower/reorder.ts';
import { merge } from '../../src/rocmlir/merge.ts';

const BINARY = `module attributes {gpu.container_module, iree.export = #gpu.object<#rocdl.target<O = 3, chip = "gfx942">, properties = {kernel = "k", workgroup_sizes = array<i64: 64, 1, 1>, workgroup_count = array<i64: 2, 1, 1>, workgroup_memory = 0 : i64}, bin = "\\7FELF\\02\\01\\01@">} {
  gpu.binary @m [#gpu.object<#rocdl.target<chip = "gfx942">, kernels = <[#gpu.kernel_metadata<"r", !llvm.func<void (ptr)>, metadata = {lds_size = 4 : i64}>]>, bin = "abc">]
  func.func @host(%a: !llvm.ptr) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @m::@r blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) dynamic_shared_memory_size %c1 args(%a : !llvm.ptr)
    "gpu.launch_func"(%c1, %c1, %c1, %c1, %c1, %c1, %a) <{kernel = @m::@r, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0>}> : (index, index, index, index, index, index, !llvm.ptr) -> ()
    return
  }
}
{-# dialect_resources: { builtin: { blob: "0x04000000" } } #-}
`;
const HOST = `module {
  util.func public @f(%arg0: !hal.buffer_view, %arg1: !hal.fence) -> !hal.buffer_view {
    %c0 = arith.constant 0 : index
    %buffer = hal.buffer_view.buffer<%arg0 : !hal.buffer_view> : !hal.buffer
    hal.device.queue.execute.indirect<%d : !hal.device> affinity(%c) wait(%w) signal(%s) commands(%cmd) bindings([
      (%buffer : !hal.buffer)[%c0, %c64],
      (%t : !hal.buffer)[%c0, %c64]
    ]) flags("None")
    %view = hal.buffer_view.create buffer(%t : !hal.buffer)[%c0, %c64] shape([%c4]) type(%e) encoding(%r) : !hal.buffer_view
    util.return %view : !hal.buffer_view
  }
}
`;
const SOURCE = `hal.executable public @x {
  hal.executable.export public @k ordinal(0) layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>) count(%d: !hal.device) -> (index) {
    hal.return %d : index
  }
  %0 = hal.interface.binding.subspan layout(<bindings = [#a, #b]>) binding(1) offset(%c0) : tensor<4xf32>
}
`;
const OLD_TOSA = `module {
  func.func @f(%a: tensor<16xf16>, %i: tensor<1x6x6x4xf16>, %w: tensor<8x3x3x4xf16>, %z: tensor<8xf16>) -> tensor<128xf16> {
    %p = "tosa.const"() <{value = dense<[0, 3, 1, 2]> : tensor<4xi32>}> : () -> tensor<4xi32>
    %0 = tosa.conv2d %i, %w, %z {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x6x4xf16>, tensor<8x3x3x4xf16>, tensor<8xf16>) -> tensor<1x4x4x8xf16>
    %1 = tosa.transpose %0, %p : (tensor<1x4x4x8xf16>, tensor<4xi32>) -> tensor<1x8x4x4xf16>
    %2 = tosa.clamp %1 {max_fp = 3.4E+38 : f32, max_int = 1 : i64, min_fp = 0.0 : f32, min_int = 0 : i64} : (tensor<1x8x4x4xf16>) -> tensor<1x8x4x4xf16>
    %3 = tosa.reshape %a {new_shape = array<i64: 1, 1, 4, 4>} : (tensor<16xf16>) -> tensor<1x1x4x4xf16>
    %4 = tosa.add %2, %3 : (tensor<1x8x4x4xf16>, tensor<1x1x4x4xf16>) -> tensor<1x8x4x4xf16>
    %5 = tosa.reshape %4 {new_shape = array<i64: 128>} : (tensor<1x8x4x4xf16>) -> tensor<128xf16>
    return %5 : tensor<128xf16>
  }
}
`;
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Whatever a part throws, the others still see the input; the first error counts. */
function all(parts: readonly (() => void)[]): void {
  let first: unknown;
  for (const part of parts) {
    try {
      part();
    } catch (error) {
      first ??= error;
      if (!(error instanceof Error && 'position' in error)) throw error;
    }
  }
  if (first !== undefined) throw first;
}

export default {
  name: 'mlir',
  seeds: () => {
    const folder = join('examples', 'migraphx');
    return [
      ...readdirSync(folder).map((name) => new Uint8Array(readFileSync(join(folder, name)))),
      ...[BINARY, HOST, SOURCE, OLD_TOSA].map(encode),
    ];
  },
  run(bytes: Uint8Array): void {
    const text = decodeModule(bytes);
    const document = parseMlir(text);
    all([
      () => {
        for (const operation of walk(document.operations)) {
          for (const open of operation.dictionaries) parseDictionary(document, open);
        }
      },
      () => lowerModule(document, { fuseAttention: true, reader: 'kernel' }),
      () => launchOperations(document),
      () => {
        const edits = new Edits();
        setModuleAttribute(document, edits, 'iree.export', 'unit');
        parseMlir(edits.apply(text));
      },
      () => merge(text, { ireeBin: undefined, debug: 1, config: undefined, disabled: false }),
      () => readHostProgram(text),
      () => renumberBindings(text, [1, 0], 3),
    ]);
  },
};
