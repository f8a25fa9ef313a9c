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
