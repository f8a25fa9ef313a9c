import { expect, test } from 'vitest';
import { readKernelRecords } from './dispatches.ts';

// Abridged text of IREE 3.13's phases for two dispatches, one of them with run-time shapes.
const SOURCES = `
  hal.executable private @"main$async_dispatch_0" {
    hal.executable.variant public @rocm_hsaco_fb target(#t) {
      hal.executable.export public @"main$async_dispatch_0_matmul" ordinal(0) layout(#p) count(%arg0: !hal.device) -> (index, index, index) {
      }
      builtin.module {
        func.func @"main$async_dispatch_0_matmul"() {
          %c0 = arith.constant 0 : index
          %c8192 = arith.constant 8192 : index
          %0 = hal.interface.binding.subspan layout(#p) binding(0) alignment(64) offset(%c0) flags("ReadOnly|Indirect") : !iree_tensor_ext.dispatch.tensor<readonly:tensor<64x64xf16>>
          %1 = hal.interface.binding.subspan layout(#p) binding(0) alignment(64) offset(%c8192) flags("ReadOnly|Indirect") : !iree_tensor_ext.dispatch.tensor<readonly:tensor<16xi32>>
          %2 = hal.interface.binding.subspan layout(#p) binding(1) alignment(64) offset(%c0) flags(Indirect) : !iree_tensor_ext.dispatch.tensor<writeonly:tensor<64x64xf32>>
          %3 = hal.interface.binding.subspan layout(#p) binding(2) alignment(64) offset(%c0) : memref<f32, #hal.descriptor_type<storage_buffer>>
        }
      }
    }
  }
  hal.executable private @main_dispatch_1 {
    hal.executable.variant public @rocm_hsaco_fb target(#t) {
      builtin.module {
        func.func @main_dispatch_1_dynamic() {
          %c0 = arith.constant 0 : index
          %9 = arith.index_castui %4 : i32 to index
          %10 = hal.interface.binding.subspan layout(#p) binding(0) alignment(64) offset(%9) flags(ReadOnly) : !flow.dispatch.tensor<readwrite:tensor<?x64xbf16>>{%9}
        }
        func.func private @helper() {
          return
        }
      }
    }
  }
`;
const HAL = `
  util.func private @apply() -> !hal.command_buffer {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c8192 = arith.constant 8192 : index
    %c16384 = arith.constant 16384 : index
    %function_id = hal.executable.lookup.function target(%e : !hal.executable) function(@linked::@rocm_hsaco_fb::@"main$async_dispatch_0_matmul") : i64
    hal.command_buffer.dispatch<%cmd : !hal.command_buffer> target(%e : !hal.executable)[%function_id] workgroups([%c3, %c1, %c1]) bindings([
      (%c0 : index)[%c0, %c16384], 
      (%c1 : index)[%c8192, %c16384], 
      (%c1 : index)[%c0, %c8192]
    ]) flags("None")
    hal.command_buffer.dispatch<%cmd : !hal.command_buffer> target(%e : !hal.executable)[%function_id] workgroups([%c3, %c1, %c1]) bindings([
      (%c0 : index)[%c0, %c16384], 
      (%c1 : index)[%c8192, %c16384], 
      (%c1 : index)[%c0, %c8192]
    ]) flags("None")
  }
  util.func public @main(%arg0: !hal.buffer_view) -> !hal.buffer_view {
    %c7_i32 = arith.constant 7 : i32
    %c2 = arith.constant 2 : index
    %ordinal = hal.executable.export.ordinal target(@main_dispatch_1::@rocm_hsaco_fb::@main_dispatch_1_dynamic) : index
    hal.command_buffer.dispatch<%cmd : !hal.command_buffer> target(%e : !hal.executable)[%ordinal] workgroups([%9, %c1, %c2]) constants([%c7_i32, %5]) bindings([
      (%buffer : !hal.buffer)[%c0, %2]
    ]) flags("None")
  }
`;

test('element types, shapes, access and offsets come from the subspans, names with $ included', () => {
  const record = readKernelRecords(SOURCES, HAL).get('main$async_dispatch_0_matmul');
  expect(record?.executable).toBe('main$async_dispatch_0');
  expect(record?.bindings).toEqual([
    [
      { offset: 0, elementType: 'f16', shape: [64, 64], access: 'read' },
      { offset: 8192, elementType: 'i32', shape: [16], access: 'read' },
    ],
    [{ offset: 0, elementType: 'f32', shape: [64, 64], access: 'write' }],
    [{ offset: 0, elementType: 'f32', shape: [], access: 'readwrite' }],
  ]);
});

test('equal dispatches of one kernel are recorded once, with grid and binding ranges', () => {
  expect(readKernelRecords(SOURCES, HAL).get('main$async_dispatch_0_matmul')?.dispatches).toEqual([
    {
      grid: [3, 1, 1],
      constants: [],
      bindings: [
        { buffer: 'slot 0', offset: 0, length: 16384 },
        { buffer: 'slot 1', offset: 8192, length: 16384 },
        { buffer: 'slot 1', offset: 0, length: 8192 },
      ],
    },
  ]);
});

test('what depends on run-time values is null; constants of another function do not count', () => {
  const record = readKernelRecords(SOURCES, HAL).get('main_dispatch_1_dynamic');
  expect(record?.bindings).toEqual([[{ offset: null, elementType: 'bf16', shape: [null, 64], access: 'readwrite' }]]);
  expect(record?.dispatches).toEqual([
    { grid: null, constants: [7, null], bindings: [{ buffer: '%buffer', offset: null, length: null }] },
  ]);
});

test('functions without bindings are no kernels', () => {
  expect(readKernelRecords(SOURCES, HAL).has('helper')).toBe(false);
});

test('dispatches inside blocks, with locations, by symbol and with a grid from a buffer are recorded', () => {
  const hal = `
  util.func public @f(%n: index) {
    %c2 = arith.constant 2 : index loc(#loc3)
    %k = hal.executable.lookup.function target(%e : !hal.executable) function(@x::@v::@"k$1") : i64 loc("a.mlir":3:4)
    cf.cond_br %p, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    scf.if %p {
      hal.command_buffer.dispatch<%cmd : !hal.command_buffer> target(%e : !hal.executable)[%k] workgroups([%c2, %c2, %c2]) bindings([
        (%b : !hal.buffer)[%c2, %n]
      ]) flags("None") loc(#loc3)
    }
    hal.command_buffer.dispatch.symbol<%cmd : !hal.command_buffer> target(@x::@v::@other) workgroups([%c2, %c2, %n]) bindings([(%b : !hal.buffer)[%c2, %c2]]) flags("None")
  ^bb2:  // 2 preds: ^bb0, ^bb1
    hal.command_buffer.dispatch.indirect<%cmd : !hal.command_buffer> target(%e : !hal.executable)[%k] workgroups(%w : !hal.buffer)[%c2] constants([%c2]) bindings([(%b : !hal.buffer)[%c2, %c2]]) flags("None")
    util.return
  }
  #loc3 = loc("b.mlir":1:1)
`;
  const binding = { buffer: '%b', offset: 2, length: 2 };
  const records = readKernelRecords('', hal);
  expect(records.get('k$1')?.dispatches).toEqual([
    { grid: [2, 2, 2], constants: [], bindings: [{ ...binding, length: null }] },
    { grid: null, constants: [2], bindings: [binding] },
  ]);
  expect(records.get('other')?.dispatches).toEqual([{ grid: null, constants: [], bindings: [binding] }]);
});

test('element types that contain an x, vectors and layouts are kept apart from the shape', () => {
  const type = (text: string): string => `
  hal.executable private @e {
    builtin.module {
      func.func @k() {
        %0 = hal.interface.binding.subspan layout(#p) binding(1) : ${text}
        return
      }
    }
  }`;
  const read = (text: string) => readKernelRecords(type(text), '').get('k')?.bindings;
  const tensor = { offset: 0, access: 'readwrite' };
  expect(read('memref<4x?xindex, strided<[?, 1], offset: ?>, #gpu.address_space<global>>{%d}')).toEqual([
    [],
    [{ ...tensor, elementType: 'index', shape: [4, null] }],
  ]);
  expect(read('tensor<2xvector<4x8xf16>>')).toEqual([[], [{ ...tensor, elementType: 'vector<4x8xf16>', shape: [2] }]]);
  expect(read('!x.tensor<readonly:tensor<f8E4M3FNUZ, #enc>>')).toEqual([
    [],
    [{ ...tensor, access: 'read', elementType: 'f8E4M3FNUZ', shape: [] }],
  ]);
});

test('an operation that matters and cannot be placed is an error, never a missing record', () => {
  const lost = `
  util.func public @f() {
    some.table ( 5 = { hal.command_buffer.dispatch<%c : !hal.command_buffer> target(@a::@b::@c) workgroups([%x, %y, %z]) } )
  }`;
  expect(() => readKernelRecords('', lost)).toThrow(
    expect.objectContaining({ code: 'iree/unreadable-dump', position: expect.objectContaining({ line: 3 }) }),
  );
  expect(() => readKernelRecords('func.func @k() {', '')).toThrow(expect.objectContaining({ code: 'mlir/unbalanced' }));
});

test('dumps that are not there give no records', () => {
  expect(readKernelRecords('', '')).toEqual(new Map());
});
