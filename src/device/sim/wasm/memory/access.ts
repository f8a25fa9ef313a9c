// Assembles the helper functions of loads and stores: one per address mode and transfer, added to the module on first use.
import type { ValType, WasmFunction, WasmModule } from '../emit.ts';
import { Code } from './code.ts';
import { EXEC_AT, resumeIndex } from './frame.ts';
import type { Mode } from './mode.ts';
import type { Frame, Transfer } from './transfer.ts';

/**
 * The helper of a mode and a transfer: (wave, pc, place of the data register, …transfer parameters, …mode parameters).
 * It works in lane order and leaves the rest, from the first lane it cannot prove harmless, to the interpreter.
 */
export function accessFunction(module: WasmModule, mode: Mode, t: Transfer): WasmFunction {
  const name = `memory.${mode.key}.${t.key}`;
  const written = module.writtenHelper(name);
  if (written !== undefined) return written;
  const resume = resumeIndex(module);
  return module.helper(name, parameterTypes(mode, t), [], (fn) => {
    writeAccess(fn, module, mode, t, (wave, pc, at) => {
      fn.get(wave).get(pc).get(at).i32(2).op('i32.shr_u').call(resume).return();
    });
  });
}

/** The same for a transfer that only looks: it leaves 1 when it could look at all lanes, or another number (Transfer.result), and 0 when one of them made it resume. */
export function lookFunction(module: WasmModule, mode: Mode, t: Transfer): WasmFunction {
  return module.helper(`look.${mode.key}.${t.key}`, parameterTypes(mode, t), ['i32'], (fn) => {
    const f = writeAccess(fn, module, mode, t, () => {
      t.leave?.();
      fn.i32(0).return();
    });
    t.finish?.(f);
    if (t.result === undefined) fn.i32(1);
    else t.result(f);
  });
}

function parameterTypes(mode: Mode, t: Transfer): ValType[] {
  return [...Array.from({ length: 3 + t.parameters }, () => 'i32' as const), ...mode.parameters];
}

function writeAccess(
  fn: WasmFunction,
  module: WasmModule,
  mode: Mode,
  t: Transfer,
  resume: (wave: number, pc: number, at: number) => void,
): Frame {
  const extra = Array.from({ length: t.parameters }, (_, i) => 3 + i);
  const code = new Code(fn);
  const [wave, pc, data] = [0, 1, 2] as const;
  const exec = code.local('i64');
  const at = code.local('i32');
  const quad = code.local('i32');
  const bits = code.local('i32');
  const laneWord = code.local('i32');
  const f: Frame = {
    code,
    module,
    wave,
    data,
    at,
    laneWord,
    extra,
    resume: () => resume(wave, pc, at),
  };
  fn.get(wave).get(data).op('i32.add').set(data);
  fn.get(wave).memory('i64.load', EXEC_AT).set(exec);
  t.prologue(f);
  const bound = mode.bind(
    f,
    t,
    mode.parameters.map((_, i) => 3 + t.parameters + i),
  );
  code.block((done) => {
    const { full, masked, quad: four } = bound;
    if (full !== undefined) {
      fn.get(exec).i64(-1n).op('i64.eq');
      code.if(() => full(done), masked === undefined ? undefined : () => masked(exec));
    }
    bound.many?.(done);
    code.loop((again) => {
      code.block((next) => {
        fn.get(exec).op('i32.wrap_i64').i32(15).op('i32.and').tee(bits).op('i32.eqz');
        code.brIf(next);
        fn.get(quad).set(at);
        fn.get(data).get(at).op('i32.add').set(laneWord);
        if (four !== undefined) {
          fn.get(bits).i32(15).op('i32.eq');
          code.if(() => four(next));
        }
        bound.some?.(next, bits);
        code.loop((lanes) => {
          fn.get(bits).op('i32.ctz').i32(2).op('i32.shl').get(quad).op('i32.add').tee(at);
          fn.get(data).op('i32.add').set(laneWord);
          bound.lane();
          fn.get(bits).get(bits).i32(1).op('i32.sub').op('i32.and').tee(bits);
          code.brIf(lanes);
        });
      });
      fn.get(quad).i32(16).op('i32.add').set(quad);
      fn.get(exec).i64(4n).op('i64.shr_u').tee(exec).i64(0n).op('i64.ne');
      code.brIf(again);
    });
  });
  return f;
}
