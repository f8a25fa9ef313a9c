// Decodes the VM bytecode of IREE modules: opcodes and fields of the core instruction set, versions 15 to 17.
// Source: IREE's runtime/src/iree/vm/bytecode/isa/isa.json and utils/isa_decoder.inl.
import { type ByteReader, WavesmithError } from '../../base/index.ts';

/** What a field of an instruction is; sizes follow from it. */
type FieldKind =
  | 'i32' // register of a 32-bit value (read)
  | 'i64' // register pair of a 64-bit value (read)
  | 'ref' // reference register (read)
  | 'out32' // result registers
  | 'out64'
  | 'outref'
  | 'const32' // immediate values
  | 'const64'
  | 'attr' // 32-bit ordinal or offset
  | 'target' // branch target
  | 'remap' // branch operands: pairs of registers
  | 'list' // variadic registers
  | 'results' // variadic result registers
  | 'string'
  | 'table'; // cases of a branch table

const U32 = 'i32 out32';
const B32 = 'i32 i32 out32';
const B64 = 'i64 i64 out64';
const L32 = 'ref i64 out32';

/** Mnemonic and fields of each core opcode, from 0. */
const CORE: readonly string[] = [
  'global.load.i32 attr out32',
  'global.store.i32 attr i32',
  'global.load.indirect.i32 i32 out32',
  'global.store.indirect.i32 i32 i32',
  'global.load.i64 attr out64',
  'global.store.i64 attr i64',
  'global.load.indirect.i64 i32 out64',
  'global.store.indirect.i64 i32 i64',
  'global.load.ref attr attr outref',
  'global.store.ref attr attr ref',
  'global.load.indirect.ref i32 attr outref',
  'global.store.indirect.ref i32 attr ref',
  'const.i32.zero out32',
  'const.i32 const32 out32',
  'const.i64.zero out64',
  'const.i64 const64 out64',
  'const.ref.zero outref',
  'const.ref.rodata attr outref',
  'list.alloc attr i32 outref',
  'list.reserve ref i32',
  'list.size ref out32',
  'list.resize ref i32',
  'list.get.i32 ref i32 out32',
  'list.set.i32 ref i32 i32',
  'list.get.i64 ref i32 out64',
  'list.set.i64 ref i32 i64',
  'list.get.ref ref i32 attr outref',
  'list.set.ref ref i32 ref',
  'select.i32 i32 i32 i32 out32',
  'select.i64 i32 i64 i64 out64',
  'select.ref i32 attr ref ref outref',
  'switch.i32 i32 i32 list out32',
  'switch.i64 i32 i64 list out64',
  'switch.ref i32 attr ref list outref',
  ...['add', 'sub', 'mul', 'div.s', 'div.u', 'rem.s', 'rem.u'].map((op) => `${op}.i32 ${B32}`),
  'fma.i32 i32 i32 i32 out32',
  ...['add', 'sub', 'mul', 'div.s', 'div.u', 'rem.s', 'rem.u'].map((op) => `${op}.i64 ${B64}`),
  'fma.i64 i64 i64 i64 out64',
  `not.i32 ${U32}`,
  ...['and', 'or', 'xor'].map((op) => `${op}.i32 ${B32}`),
  'not.i64 i64 out64',
  ...['and', 'or', 'xor'].map((op) => `${op}.i64 ${B64}`),
  ...['shl', 'shr.s', 'shr.u'].map((op) => `${op}.i32 ${B32}`),
  ...['shl', 'shr.s', 'shr.u'].map((op) => `${op}.i64 i64 i32 out64`),
  `trunc.i32.i8 ${U32}`,
  `trunc.i32.i16 ${U32}`,
  'trunc.i64.i32 i64 out32',
  `ext.i8.i32.s ${U32}`,
  `ext.i8.i32.u ${U32}`,
  `ext.i16.i32.s ${U32}`,
  `ext.i16.i32.u ${U32}`,
  'ext.i32.i64.s i32 out64',
  'ext.i32.i64.u i32 out64',
  ...['eq', 'ne', 'lt.s', 'lt.u'].map((op) => `cmp.${op}.i32 ${B32}`),
  `cmp.nz.i32 ${U32}`,
  ...['eq', 'ne', 'lt.s', 'lt.u'].map((op) => `cmp.${op}.i64 i64 i64 out32`),
  'cmp.nz.i64 i64 out32',
  'cmp.eq.ref ref ref out32',
  'cmp.ne.ref ref ref out32',
  'cmp.nz.ref ref out32',
  'br target remap',
  'cond_br i32 target remap target remap',
  'call attr list results',
  'call.variadic attr list list results',
  'return list',
  'fail i32 string',
  'import.resolved attr out32',
  'yield target remap',
  'trace string list',
  'print string list',
  'cond_break i32 target remap',
  'break target remap',
  ...['i8.u', 'i8.s', 'i16.u', 'i16.s', 'i32'].map((op) => `buffer.load.${op} ${L32}`),
  'buffer.load.i64 ref i64 out64',
  ...['i8', 'i16', 'i32'].map((op) => `buffer.store.${op} ref i64 i32`),
  'buffer.store.i64 ref i64 i64',
  'buffer.alloc i64 i32 outref',
  'buffer.clone ref i64 i64 i32 outref',
  'buffer.length ref out64',
  'buffer.copy ref i64 ref i64 i64',
  'buffer.compare ref i64 ref i64 i64 out32',
  ...['i8', 'i16', 'i32'].map((op) => `buffer.fill.${op} ref i64 i64 i32`),
  'buffer.fill.i64 ref i64 i64 i64',
  `ctlz.i32 ${U32}`,
  'ctlz.i64 i64 out64',
  `abs.i32 ${U32}`,
  'abs.i64 i64 out64',
  'block',
  ...['min.s', 'min.u', 'max.s', 'max.u'].map((op) => `${op}.i32 ${B32}`),
  ...['min.s', 'min.u', 'max.s', 'max.u'].map((op) => `${op}.i64 ${B64}`),
  'cast.any.ref ref attr outref',
  'br_table i32 target remap table',
  'buffer.hash ref i64 i64 out64',
  'discard.refs list',
  'assign.ref ref outref',
  'call.yieldable attr list target results',
  'call.variadic.yieldable attr list list target results',
];

/** Field lists of the f32 extension's opcodes with repeat counts; an f32 lives in a 32-bit register. */
const F32: readonly (readonly [count: number, fields: string])[] = [
  [1, 'attr out32'],
  [1, 'attr i32'],
  [1, 'i32 out32'],
  [1, 'i32 i32'],
  [1, 'out32'],
  [1, 'const32 out32'],
  [1, 'ref i32 out32'],
  [1, 'ref i32 i32'],
  [1, 'i32 i32 i32 out32'],
  [1, 'i32 i32 list out32'],
  [5, 'i32 i32 out32'],
  [1, 'i32 i32 i32 out32'],
  [11, 'i32 out32'],
  [1, 'i32 i32 out32'],
  [9, 'i32 out32'],
  [1, 'i32 i32 out32'],
  [4, 'i32 out32'],
  [8, 'i32 i32 out32'],
  [1, 'i32 out32'],
  [1, 'ref i64 out32'],
  [1, 'ref i64 i32'],
  [1, 'ref i64 i64 i32'],
  [1, 'i32 out32'],
  [2, 'i32 i32 out32'],
  [1, 'i32 out32'],
  [2, 'i32 out64'],
  [2, 'i64 out32'],
];

/** The same for the f64 extension; an f64 lives in a register pair. */
const F64: readonly (readonly [count: number, fields: string])[] = [
  [1, 'attr out64'],
  [1, 'attr i64'],
  [1, 'i32 out64'],
  [1, 'i32 i64'],
  [1, 'out64'],
  [1, 'const64 out64'],
  [1, 'ref i32 out64'],
  [1, 'ref i32 i64'],
  [1, 'i32 i64 i64 out64'],
  [1, 'i32 i64 list out64'],
  [5, 'i64 i64 out64'],
  [1, 'i64 i64 i64 out64'],
  [4, 'i64 out64'],
  [1, 'i64 out32'],
  [3, 'i32 out64'],
  [2, 'i64 out32'],
  [7, 'i64 out64'],
  [1, 'i64 i64 out64'],
  [9, 'i64 out64'],
  [1, 'i64 i64 out64'],
  [4, 'i64 out64'],
  [8, 'i64 i64 out32'],
  [1, 'i64 out32'],
  [1, 'ref i64 out64'],
  [1, 'ref i64 i64'],
  [1, 'ref i64 i64 i64'],
  [1, 'i64 out64'],
  [2, 'i64 i64 out64'],
  [1, 'i64 out64'],
];

interface Format {
  readonly mnemonic: string;
  readonly fields: readonly FieldKind[];
}

const FORMATS: readonly Format[] = CORE.map((row) => {
  const [mnemonic, ...fields] = row.split(' ');
  return { mnemonic, fields: fields as FieldKind[] };
});

function extension(mnemonic: string, rows: readonly (readonly [number, string])[]): Format[] {
  return rows.flatMap(([count, fields]) => Array(count).fill({ mnemonic, fields: fields.split(' ') as FieldKind[] }));
}

const EXTENSIONS: ReadonlyMap<number, readonly Format[]> = new Map([
  [0xe0, extension('f32', F32)],
  [0xe1, extension('f64', F64)],
]);

const REF_BIT = 0x8000;
const REF_INDEX = 0x3fff;

/** A register: value registers count from 0; reference registers are `-1 - index`. */
export type VmRegister = number;

export interface VmInstruction {
  readonly pc: number;
  readonly mnemonic: string;
  /** Registers that are read, in order (lists flattened into `lists`). */
  readonly inputs: readonly VmRegister[];
  /** Which of `inputs` are register pairs. */
  readonly inputsAre64: readonly boolean[];
  readonly output: VmRegister | undefined;
  readonly outputIs64: boolean;
  /** Immediates, ordinals, offsets. */
  readonly constants: readonly bigint[];
  readonly lists: readonly (readonly number[])[];
  readonly results: readonly VmRegister[];
  readonly branches: readonly {
    readonly target: number;
    readonly remap: readonly (readonly [VmRegister, VmRegister])[];
  }[];
}

/** True when this decoder knows the bytecode version. */
export function isKnownBytecode(major: number): boolean {
  return major >= 15 && major <= 17;
}

function register(raw: number): VmRegister {
  return (raw & REF_BIT) !== 0 ? -1 - (raw & REF_INDEX) : raw;
}

/** Decodes the instruction at `pc` of a function's bytecode; returns it with the pc of the next one. Float operations are named `f32` and `f64` only. */
export function decodeVmInstruction(reader: ByteReader, pc: number): { instruction: VmInstruction; next: number } {
  const opcode = reader.u8(pc);
  const prefixed = EXTENSIONS.get(opcode);
  const format = prefixed === undefined ? FORMATS[opcode] : prefixed[reader.u8(pc + 1)];
  if (format === undefined) {
    throw new WavesmithError('vmfb/unknown-opcode', `VM opcode 0x${opcode.toString(16)} is not supported.`, { pc });
  }
  let at = prefixed === undefined ? pc + 1 : pc + 2;
  const inputs: VmRegister[] = [];
  const inputsAre64: boolean[] = [];
  const constants: bigint[] = [];
  const lists: number[][] = [];
  const branches: { target: number; remap: [VmRegister, VmRegister][] }[] = [];
  let results: VmRegister[] = [];
  let output: VmRegister | undefined;
  let outputIs64 = false;
  const u16 = () => {
    const value = reader.u16(at);
    at += 2;
    return value;
  };
  const list = () => {
    at += at & 1;
    const count = u16();
    reader.check(at, 2 * count);
    return Array.from({ length: count }, u16);
  };
  const remap = () => {
    at += at & 1;
    const count = u16();
    reader.check(at, 4 * count);
    return Array.from({ length: count }, (): [VmRegister, VmRegister] => [register(u16()), register(u16())]);
  };
  const target = () => {
    at += 4;
    return reader.u32(at - 4);
  };
  for (const field of format.fields) {
    switch (field) {
      case 'i32':
      case 'i64':
        inputs.push(u16());
        inputsAre64.push(field === 'i64');
        break;
      case 'ref':
        inputs.push(register(u16() | REF_BIT));
        inputsAre64.push(false);
        break;
      case 'out32':
      case 'out64':
        output = u16();
        outputIs64 = field === 'out64';
        break;
      case 'outref':
        output = register(u16() | REF_BIT);
        break;
      case 'const32':
        constants.push(BigInt(reader.i32(at)));
        at += 4;
        break;
      case 'const64':
        constants.push(reader.i64(at));
        at += 8;
        break;
      case 'attr':
        constants.push(BigInt(reader.u32(at)));
        at += 4;
        break;
      case 'target':
        branches.push({ target: target(), remap: [] });
        break;
      case 'remap':
        branches.at(-1)!.remap.push(...remap());
        break;
      case 'list':
        lists.push(list());
        break;
      case 'results':
        results = list().map(register);
        break;
      case 'string': {
        const length = u16();
        reader.check(at, length);
        at += length;
        break;
      }
      default: {
        const count = u16();
        for (let i = 0; i < count; i++) branches.push({ target: target(), remap: remap() });
      }
    }
  }
  const { mnemonic } = format;
  return {
    instruction: { pc, mnemonic, inputs, inputsAre64, output, outputIs64, constants, lists, results, branches },
    next: at,
  };
}

/** The register behind an entry of a variadic list. */
export function listRegister(raw: number): VmRegister {
  return register(raw);
}
