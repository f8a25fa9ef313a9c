// Runs one matrix instruction as compiled code on a wavefront of the harness in one-instruction.ts.

import { bindMatrix, type MatrixMode } from '../../src/device/sim/interpreter/matrix.ts';
import type { Wave } from '../../src/device/sim/state/wave.ts';
import { WasmModule } from '../../src/device/sim/wasm/emit.ts';
import { type MatrixFeatures, matrixFeatures } from '../../src/device/sim/wasm/features.ts';
import { emitMatrixInstruction } from '../../src/device/sim/wasm/matrix/emit-matrix.ts';
import { type MatrixOperation, semanticsOf } from '../../src/isa/semantics/index.ts';
import type { Instruction, TargetName } from '../../src/isa/types.ts';

/** The matrix operation of an instruction. */
export function matrixOperation(instruction: Instruction): MatrixOperation {
  const op = semanticsOf(instruction.row.operation);
  if (op?.kind !== 'matrix') throw new Error(`${instruction.row.mnemonic} is not a matrix operation`);
  return op;
}

export interface CompiledMatrix {
  /** Runs it `count` times on the wave; the number of times the interpreter had to do it. */
  run(w: Wave, count?: number): number;
}

/** Compiles a matrix instruction for the memory of a wave; undefined when it has no compiled form. */
export function compileMatrix(
  w: Wave,
  target: TargetName,
  instruction: Instruction,
  mode: MatrixMode,
  features: MatrixFeatures = matrixFeatures(),
): CompiledMatrix | undefined {
  const op = matrixOperation(instruction);
  const memory = w.memory.wasm;
  const shared = !(memory.buffer instanceof ArrayBuffer);
  const module = new WasmModule({ module: 'host', name: 'memory', initial: 0, maximum: 65536, shared });
  const interpret = module.importFunction('host', 'interpret', ['i32'], []);
  // Helpers come first: the body of a function is finished before the next is begun only when they exist already.
  const f = module.function(['i32', 'i32'], []);
  f.loop();
  const covered = emitMatrixInstruction(
    f,
    module,
    0,
    instruction,
    op,
    target,
    mode,
    () => f.get(0).call(interpret),
    features,
  );
  if (!covered) return undefined;
  f.get(1).i32(1).op('i32.sub').tee(1).brIf(0).end();
  module.export('run', f);
  const step = bindMatrix(instruction, op, target, mode);
  let fallbacks = 0;
  let current = w;
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), {
    host: {
      memory,
      interpret: () => {
        fallbacks++;
        step(current);
      },
    },
  });
  const run = instance.exports.run as (pointer: number, count: number) => void;
  return {
    run: (wave, count = 1) => {
      fallbacks = 0;
      current = wave;
      run(wave.pointer, count);
      return fallbacks;
    },
  };
}
