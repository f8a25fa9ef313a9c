// The wasm builder: every instruction of the opcode tables validates, and small programs compute what they say.
import { describe, expect, it } from 'vitest';
import { type ValType, type WasmFunction, WasmModule } from './emit.ts';
import { LANE, LANE_MEMORY, MEMORY, naturalAlignment, PLAIN } from './opcodes.ts';

const MEMORY_IMPORT = { module: 'env', name: 'memory', initial: 1, maximum: 4, shared: true };

function validates(build: (f: WasmFunction) => void): boolean {
  const module = new WasmModule(MEMORY_IMPORT);
  build(module.function([], []));
  return WebAssembly.validate(module.finish());
}

/** Pushes a zero of a type. */
function zero(f: WasmFunction, type: ValType): void {
  if (type === 'v128') f.v128(0, 0, 0, 0);
  else if (type === 'i64') f.i64(0n);
  else if (type === 'i32') f.i32(0);
  else f[type](0);
}

const TYPES: readonly ValType[] = ['i32', 'i64', 'f32', 'f64', 'v128'];
const SHAPES: ValType[][] = TYPES.flatMap((a) => [[a], ...TYPES.map((b) => [a, b]), [a, a, a]]);

describe('the wasm builder', () => {
  it('writes every operator so that some operand types validate', () => {
    const relaxed = (name: string): boolean => name.includes('relaxed');
    const bad = [...PLAIN.keys()].filter(
      (name) =>
        !relaxed(name) &&
        !SHAPES.some((shape) =>
          validates((f) => {
            for (const t of shape) zero(f, t);
            f.op(name).drop();
          }),
        ),
    );
    expect(bad).toEqual([]);
  });

  it('writes every memory instruction with its natural alignment at most', () => {
    const forms: ValType[][] = [[], ...TYPES.map((t) => [t]), ...TYPES.map((t) => [t, t])];
    const bad = [...MEMORY.keys()].filter(
      (name) =>
        !forms.some((values) =>
          [true, false].some((result) =>
            validates((f) => {
              f.i32(0);
              for (const t of values) zero(f, t);
              f.memory(name, 16, naturalAlignment(name));
              if (result) f.drop();
            }),
          ),
        ),
    );
    expect(bad).toEqual([]);
  });

  it('writes lane instructions', () => {
    for (const name of LANE_MEMORY.keys()) {
      const ok = validates((f) => {
        f.i32(0).v128(1, 2, 3, 4).memoryLane(name, 1, 8);
        if (name.includes('load')) f.drop();
      });
      expect(ok, name).toBe(true);
    }
    for (const name of LANE.keys()) {
      const scalar = (name.startsWith('f') ? name.slice(0, 3) : name.startsWith('i64') ? 'i64' : 'i32') as ValType;
      const ok = validates((f) => {
        f.v128(0, 0, 0, 0);
        if (name.includes('replace')) zero(f, scalar);
        f.lane(name, 1).drop();
      });
      expect(ok, name).toBe(true);
    }
  });

  it('runs functions with imports, helpers, locals, loops, tables and memory', () => {
    const module = new WasmModule(MEMORY_IMPORT);
    const log = module.importFunction('env', 'log', ['i32'], []);
    const double = module.helper('double', ['i32'], ['i32'], (f) => f.get(0).i32(1).op('i32.shl'));
    expect(module.helper('double', ['i32'], ['i32'], () => expect.unreachable())).toBe(double);
    const main = module.function(['i32'], ['i32']);
    const sum = main.local('i32');
    main.loop();
    main
      .get(sum)
      .get(0)
      .i32(0)
      .callIndirect(module.type(['i32'], ['i32']))
      .op('i32.add')
      .set(sum);
    main.get(0).i32(1).op('i32.sub').tee(0).brIf(0).end();
    main.get(sum).call(log).i32(64).get(sum).memory('i32.store').get(sum);
    module.table([double]);
    module.export('main', main);
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 4, shared: true });
    const logged: number[] = [];
    const instance = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), {
      env: { memory, log: (n: number) => logged.push(n) },
    });
    expect((instance.exports.main as (n: number) => number)(4)).toBe(20);
    expect(logged).toEqual([20]);
    expect(new Int32Array(memory.buffer)[16]).toBe(20);
  });

  it('refuses unknown names and late imports', () => {
    const module = new WasmModule(MEMORY_IMPORT);
    const f = module.function([], []);
    expect(() => f.op('i32.nonsense')).toThrow('i32.nonsense');
    expect(() => module.importFunction('a', 'b', [], [])).toThrow('before');
  });
});
