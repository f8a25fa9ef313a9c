// Scalar code from templates does what code written for the instruction does.
import { expect, it } from 'vitest';
import { randomNumbers } from '../../../base/index.ts';
import { decoderFor } from '../../../isa/index.ts';
import { semanticsOf } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { WAVE_SCC } from '../state/layout.ts';
import { declareImports, type FunctionContext } from './context.ts';
import { type WasmFunction, WasmModule } from './emit.ts';
import { emitScalar, NoCode } from './scalar.ts';
import { addScalar } from './scalar-template.ts';

const random = randomNumbers(5);
const word = (): number => (random() * 2 ** 32) >>> 0;

/** Random scalar instructions, several of each form. */
function scalarInstructions(count: number): Instruction[] {
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  const found: Instruction[] = [];
  while (found.length < count) {
    // SOP1, SOP2, SOPC and SOPK, and a literal for those that take one.
    const isLiteral = random() < 0.3 ? 255 : 0;
    view.setUint32(0, (0x80000000 | (word() >>> 1) | isLiteral) >>> 0, true);
    view.setUint32(4, word(), true);
    const instruction = decoderFor('gfx942').decode(bytes, 0);
    if (instruction === undefined || semanticsOf(instruction.row.operation)?.kind !== 'scalar') continue;
    found.push(instruction);
  }
  return found;
}

it('scalar code from templates does what code written for the instruction does', () => {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
  const module = new WasmModule({ module: 'env', name: 'memory', initial: 1, maximum: 65536, shared: true });
  declareImports(module);
  const instructions = scalarInstructions(600);
  const names: [string, string][] = [];
  const add = (name: string, write: (context: FunctionContext) => void): void => {
    const fn: WasmFunction = module.function(['i32'], []);
    write({ fn, module, wave: 0, pc: 0 });
    module.export(name, fn);
  };
  for (const [n, instruction] of instructions.entries()) {
    const op = semanticsOf(instruction.row.operation);
    if (op?.kind !== 'scalar') throw new Error('not scalar');
    try {
      add(`own ${n}`, (context) => emitScalar(context, instruction, op));
    } catch (error) {
      if (!(error instanceof NoCode)) throw error;
      expect(() => add(`template ${n}`, (context) => addScalar(context, instruction, op))).toThrow(NoCode);
      continue;
    }
    add(`template ${n}`, (context) => addScalar(context, instruction, op));
    names.push([`own ${n}`, `template ${n}`]);
  }
  expect(names.length).toBeGreaterThan(500);
  for (const kind of ['literal', 'imm'])
    expect(instructions.filter(({ operands }) => operands.some((o) => o.kind === kind)).length).toBeGreaterThan(30);
  const env = new Proxy({ memory }, { get: (given, name) => (name === 'memory' ? given.memory : () => 0) });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env });
  const view = new Int32Array(memory.buffer, 0, WAVE_SCC / 4 + 1);
  for (const pair of names) {
    const before = view.map(() => word());
    before[WAVE_SCC / 4] = word() & 1;
    const [own, template] = pair.map((name) => {
      view.set(before);
      (exports[name] as (wave: number) => void)(0);
      return view.slice();
    });
    expect(template, pair[1]).toEqual(own);
  }
});

it('a form is written once, whatever its registers', () => {
  // s_add_u32 s2, s0, s1 and s_add_u32 s9, s5, s7.
  const bytes = Uint8Array.from([0x00, 0x01, 0x02, 0x80, 0x05, 0x07, 0x09, 0x80]);
  const [first, second] = [0, 4].map((at) => decoderFor('gfx942').decode(bytes, at)) as [Instruction, Instruction];
  const op = semanticsOf('s_add_u32');
  if (op?.kind !== 'scalar') throw new Error('not scalar');
  const module = new WasmModule({ module: 'env', name: 'memory', initial: 1, maximum: 1, shared: false });
  const context = { fn: module.function(['i32'], []), module, wave: 0, pc: 0 };
  addScalar(context, first, op);
  // Code is written from the operation's expressions.
  const unreadable = new Proxy(op, { get: () => expect.unreachable('the form is written again') });
  addScalar(context, second, unreadable);
  expect(() => emitScalar(context, second, unreadable)).toThrow('written again');
});
