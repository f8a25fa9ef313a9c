// Builds WebAssembly modules: functions of named instructions, imports, exports, one memory, one table.
// Source: WebAssembly Core Specification 2.0, "Binary Format".
import { LANE, LANE_MEMORY, MEMORY, naturalAlignment, type Opcode, PLAIN } from './opcodes.ts';

export type ValType = 'i32' | 'i64' | 'f32' | 'f64' | 'v128';
const TYPE_CODE: Record<ValType, number> = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b };

/** Growing byte buffer with LEB128 writers. */
export class ByteSink {
  private bytes: Uint8Array<ArrayBuffer>;
  length = 0;

  constructor(capacity = 256) {
    this.bytes = new Uint8Array(capacity);
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(2 * this.bytes.length, this.length + more));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
  byte(value: number): void {
    if (this.length === this.bytes.length) this.reserve(1);
    this.bytes[this.length++] = value;
  }
  /** A 32-bit word, lowest byte first. */
  word(value: number): void {
    this.reserve(4);
    const { bytes } = this;
    let at = this.length;
    bytes[at++] = value;
    bytes[at++] = value >> 8;
    bytes[at++] = value >> 16;
    bytes[at++] = value >> 24;
    this.length = at;
  }
  /** Unsigned LEB128 of a 32-bit number. */
  u32(value: number): void {
    let rest = value >>> 0;
    while (rest > 0x7f) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.byte(rest);
  }
  /** Signed LEB128 of a 32-bit number. */
  s32(value: number): void {
    let rest = value | 0;
    for (;;) {
      const low = rest & 0x7f;
      rest >>= 7;
      if ((rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)) {
        this.byte(low);
        return;
      }
      this.byte(low | 0x80);
    }
  }
  /** Signed LEB128 of a 64-bit number. */
  s64(value: bigint): void {
    let rest = BigInt.asIntN(64, value);
    for (;;) {
      const low = Number(rest & 0x7fn);
      rest >>= 7n;
      if ((rest === 0n && (low & 0x40) === 0) || (rest === -1n && (low & 0x40) !== 0)) {
        this.byte(low);
        return;
      }
      this.byte(low | 0x80);
    }
  }
  raw(data: Uint8Array): void {
    const end = this.length + data.length;
    if (end > this.bytes.length) this.reserve(data.length);
    this.bytes.set(data, this.length);
    this.length = end;
  }
  /** Two bytes. */
  pair(first: number, second: number): void {
    const at = this.length;
    if (at + 2 > this.bytes.length) this.reserve(2);
    this.bytes[at] = first;
    this.bytes[at + 1] = second;
    this.length = at + 2;
  }
  text(value: string): void {
    const data = new TextEncoder().encode(value);
    this.u32(data.length);
    this.raw(data);
  }
  view(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.length);
  }
}

const scratch = new DataView(new ArrayBuffer(8));
const NONE: readonly number[] = [];
/** Bytes that a function's body takes beside its code, and a module beside its functions, mostly. */
const FUNCTION_ROOM = 32;
const MODULE_ROOM = 16_384;
/** Prefix of atomic instructions. */
const ATOMIC = 0xfe;

/** Gives the index of an immutable global that holds a v128 constant. */
interface ConstantGlobals {
  constant(w0: number, w1: number, w2: number, w3: number): number;
}

/** One function being written. Instructions are appended in order; `end` is added by the module. */
export class WasmFunction {
  readonly index: number;
  readonly params: readonly ValType[];
  readonly results: readonly ValType[];
  private readonly locals: ValType[] = [];
  private readonly free = new Map<ValType, number[]>();
  private code = new ByteSink();
  private readonly globals: ConstantGlobals | undefined;

  constructor(
    index: number,
    params: readonly ValType[],
    results: readonly ValType[],
    globals?: ConstantGlobals | undefined,
  ) {
    this.index = index;
    this.params = params;
    this.results = results;
    this.globals = globals;
  }

  /** Bytes of code so far. */
  get size(): number {
    return this.code.length;
  }

  /** A new local (zero at function entry), or a released one (any value). */
  local(type: ValType): number {
    const reused = this.free.get(type)?.pop();
    return reused ?? this.freshLocal(type);
  }
  /** A new local that no one has used before. */
  freshLocal(type: ValType): number {
    this.locals.push(type);
    return this.params.length + this.locals.length - 1;
  }
  /** Gives a local back for reuse. */
  release(type: ValType, local: number): void {
    const list = this.free.get(type);
    if (list === undefined) this.free.set(type, [local]);
    else list.push(local);
  }

  /** Takes back what was appended since `size` was `mark`. */
  truncate(mark: number): void {
    this.code.length = mark;
  }
  /** Directs further instructions into `sink`; what they went into so far. */
  redirect(sink: ByteSink): ByteSink {
    const before = this.code;
    this.code = sink;
    return before;
  }
  /** Appends instructions that were directed into a sink. */
  append(sink: ByteSink): this {
    this.code.raw(sink.view());
    return this;
  }
  /** Appends instructions as bytes. */
  raw(code: Uint8Array): this {
    this.code.raw(code);
    return this;
  }

  get(local: number): this {
    return this.immediate(0x20, local);
  }
  set(local: number): this {
    return this.immediate(0x21, local);
  }
  tee(local: number): this {
    return this.immediate(0x22, local);
  }
  globalGet(index: number): this {
    return this.immediate(0x23, index);
  }
  globalSet(index: number): this {
    return this.immediate(0x24, index);
  }
  private immediate(opcode: number, value: number): this {
    if (value < 0x80) this.code.pair(opcode, value);
    else {
      this.code.byte(opcode);
      this.code.u32(value);
    }
    return this;
  }
  private opcode(o: Opcode): void {
    if (o.prefix === 0) this.code.byte(o.code);
    else if (o.code < 0x80) this.code.pair(o.prefix, o.code);
    else {
      this.code.byte(o.prefix);
      this.code.u32(o.code);
    }
  }

  i32(value: number): this {
    this.code.byte(0x41);
    this.code.s32(value);
    return this;
  }
  i64(value: bigint): this {
    this.code.byte(0x42);
    this.code.s64(value);
    return this;
  }
  f32(value: number): this {
    scratch.setFloat32(0, value, true);
    this.code.byte(0x43);
    this.code.raw(new Uint8Array(scratch.buffer, 0, 4));
    return this;
  }
  f64(value: number): this {
    scratch.setFloat64(0, value, true);
    this.code.byte(0x44);
    this.code.raw(new Uint8Array(scratch.buffer, 0, 8));
    return this;
  }
  /** A v128 constant from four 32-bit words. */
  v128(w0: number, w1: number, w2: number, w3: number): this {
    const isOne = w0 === w1 && w0 === w2 && w0 === w3 && (w0 === 0 || w0 === -1);
    if (this.globals !== undefined && !isOne) return this.globalGet(this.globals.constant(w0, w1, w2, w3));
    const { code } = this;
    code.byte(0xfd);
    code.byte(12);
    code.word(w0);
    code.word(w1);
    code.word(w2);
    code.word(w3);
    return this;
  }

  /** The sizes of floats: V8 of Node 20 makes the mask for its own instruction each time, by two others. */
  abs(type: 'f32x4' | 'f64x2'): this {
    if (type === 'f32x4') this.v128(0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff);
    else this.v128(-1, 0x7fffffff, -1, 0x7fffffff);
    return this.op('v128.and');
  }
  /** Floats with the other sign, for the same reason. */
  neg(type: 'f32x4' | 'f64x2'): this {
    const sign = -0x80000000;
    if (type === 'f32x4') this.v128(sign, sign, sign, sign);
    else this.v128(0, sign, 0, sign);
    return this.op('v128.xor');
  }
  /** Whether a mask of whole words has any: V8 tests signs by half the instructions that it has for v128.any_true. */
  anyLane(): this {
    return this.op('i32x4.bitmask');
  }
  /** An instruction without immediates: `i32.add`, `f32x4.mul`, `v128.bitselect`. */
  op(name: string): this {
    const o = PLAIN.get(name);
    if (o === undefined) throw new Error(`no WebAssembly instruction ${name}`);
    this.opcode(o);
    return this;
  }
  /** A load, store or atomic at the address on the stack plus `offset`. Alignment is a hint: by default 1 byte (atomics: natural). */
  memory(name: string, offset = 0, alignment?: number): this {
    const o = MEMORY.get(name);
    if (o === undefined) throw new Error(`no WebAssembly memory instruction ${name}`);
    this.opcode(o);
    this.code.byte(alignment ?? (o.prefix === ATOMIC ? naturalAlignment(name) : 0));
    this.code.u32(offset);
    return this;
  }
  /** `v128.load32_lane` and the like. */
  memoryLane(name: string, lane: number, offset = 0): this {
    const o = LANE_MEMORY.get(name);
    if (o === undefined) throw new Error(`no WebAssembly lane memory instruction ${name}`);
    this.opcode(o);
    this.code.u32(0);
    this.code.u32(offset);
    this.code.byte(lane);
    return this;
  }
  /** `i32x4.extract_lane`, `f64x2.replace_lane`, … */
  lane(name: string, lane: number): this {
    const o = LANE.get(name);
    if (o === undefined) throw new Error(`no WebAssembly lane instruction ${name}`);
    this.opcode(o);
    this.code.byte(lane);
    return this;
  }
  /** i8x16.shuffle with 16 byte selectors (0–31). */
  shuffle(selectors: readonly number[]): this {
    if (selectors.length !== 16) throw new Error('a shuffle has 16 selectors');
    this.code.byte(0xfd);
    this.code.byte(13);
    for (const s of selectors) this.code.byte(s);
    return this;
  }
  /** Shuffle of 32-bit lanes: selectors 0–3 from the first, 4–7 from the second operand. */
  shuffle32(a: number, b: number, c: number, d: number): this {
    const { code } = this;
    code.byte(0xfd);
    code.byte(13);
    // Bytes 4s, 4s + 1, … of each selected lane.
    for (const s of [a, b, c, d]) code.word(0x03020100 + 0x04040404 * s);
    return this;
  }

  private structured(opcode: number, result: ValType | undefined): this {
    this.code.byte(opcode);
    this.code.byte(result === undefined ? 0x40 : TYPE_CODE[result]);
    return this;
  }
  block(result?: ValType): this {
    return this.structured(0x02, result);
  }
  loop(result?: ValType): this {
    return this.structured(0x03, result);
  }
  if(result?: ValType): this {
    return this.structured(0x04, result);
  }
  else(): this {
    this.code.byte(0x05);
    return this;
  }
  end(): this {
    this.code.byte(0x0b);
    return this;
  }
  br(depth: number): this {
    return this.immediate(0x0c, depth);
  }
  brIf(depth: number): this {
    return this.immediate(0x0d, depth);
  }
  brTable(depths: readonly number[], otherwise: number): this {
    this.code.byte(0x0e);
    this.code.u32(depths.length);
    for (const d of depths) this.code.u32(d);
    this.code.u32(otherwise);
    return this;
  }
  return(): this {
    this.code.byte(0x0f);
    return this;
  }
  call(target: number | { readonly index: number }): this {
    return this.immediate(0x10, typeof target === 'number' ? target : target.index);
  }
  /** Calls through table 0; the index is on the stack above the arguments. */
  callIndirect(type: number): this {
    this.code.byte(0x11);
    this.code.u32(type);
    this.code.u32(0);
    return this;
  }
  drop(): this {
    this.code.byte(0x1a);
    return this;
  }
  select(): this {
    this.code.byte(0x1b);
    return this;
  }
  unreachable(): this {
    this.code.byte(0x00);
    return this;
  }
  /** memory.copy: destination, source, size on the stack. */
  memoryCopy(): this {
    this.code.raw(Uint8Array.of(0xfc, 10, 0, 0));
    return this;
  }
  /** memory.fill: destination, byte, size on the stack. */
  memoryFill(): this {
    this.code.raw(Uint8Array.of(0xfc, 11, 0));
    return this;
  }
  fence(): this {
    this.code.raw(Uint8Array.of(0xfe, 3, 0));
    return this;
  }

  /** Writes the body as it stands in the code section, size first. */
  finish(out: ByteSink): void {
    const head = new ByteSink();
    const runs: [number, ValType][] = [];
    for (const type of this.locals) {
      const last = runs.at(-1);
      if (last?.[1] === type) last[0]++;
      else runs.push([1, type]);
    }
    head.u32(runs.length);
    for (const [count, type] of runs) {
      head.u32(count);
      head.byte(TYPE_CODE[type]);
    }
    out.u32(head.length + this.code.length + 1);
    out.raw(head.view());
    out.raw(this.code.view());
    out.byte(0x0b);
  }
}

export interface MemoryImport {
  readonly module: string;
  readonly name: string;
  /** Pages of 64 KiB, as the memory was created. */
  readonly initial: number;
  readonly maximum: number;
  readonly shared: boolean;
}

/** A module being written. All imports come before the first function of its own. */
export class WasmModule {
  private readonly types: string[] = [];
  private readonly typeBytes: Uint8Array[] = [];
  private readonly imports: { module: string; name: string; type: number }[] = [];
  private readonly functions: WasmFunction[] = [];
  private readonly functionTypes: number[] = [];
  private readonly named = new Map<string, WasmFunction>();
  private readonly exports: { name: string; index: number }[] = [];
  private readonly globals: (
    | { readonly type: 'i32' | 'i64'; readonly value: number }
    | { readonly type: 'v128'; readonly words: readonly number[]; readonly isMutable: boolean }
  )[] = [];
  /** Globals of constants, by a number made of their words. */
  private readonly constants = new Map<number, readonly number[]>();
  private elements: readonly number[] = [];
  private readonly memory: MemoryImport;

  constructor(memory: MemoryImport) {
    this.memory = memory;
  }

  /** Index of a function type. */
  type(params: readonly ValType[], results: readonly ValType[]): number {
    const key = `${params.join(' ')} -> ${results.join(' ')}`;
    const known = this.types.indexOf(key);
    if (known >= 0) return known;
    const sink = new ByteSink();
    sink.byte(0x60);
    for (const list of [params, results]) {
      sink.u32(list.length);
      for (const t of list) sink.byte(TYPE_CODE[t]);
    }
    this.types.push(key);
    this.typeBytes.push(sink.view());
    return this.types.length - 1;
  }

  /** Imports a function; its index. */
  importFunction(module: string, name: string, params: readonly ValType[], results: readonly ValType[]): number {
    const known = this.imports.findIndex((i) => i.module === module && i.name === name);
    if (known >= 0) return known;
    if (this.functions.length > 0) throw new Error('imports come before functions');
    this.imports.push({ module, name, type: this.type(params, results) });
    return this.imports.length - 1;
  }

  /** The index of an import; undefined where the module has none of that name. */
  imported(module: string, name: string): number | undefined {
    const index = this.imports.findIndex((i) => i.module === module && i.name === name);
    return index < 0 ? undefined : index;
  }

  /** A new function. */
  function(params: readonly ValType[], results: readonly ValType[]): WasmFunction {
    const index = this.imports.length + this.functions.length;
    const f = new WasmFunction(index, params, results, this);
    this.functions.push(f);
    this.functionTypes.push(this.type(params, results));
    return f;
  }

  /** The helper function called `name`, if it has been written. */
  writtenHelper(name: string): WasmFunction | undefined {
    return this.named.get(name);
  }

  /** The helper function called `name`, written by `build` on first use. */
  helper(
    name: string,
    params: readonly ValType[],
    results: readonly ValType[],
    build: (f: WasmFunction) => void,
  ): WasmFunction {
    const known = this.named.get(name);
    if (known !== undefined) return known;
    const f = this.function(params, results);
    this.named.set(name, f);
    build(f);
    return f;
  }

  /** A mutable global; its index. */
  global(type: 'i32' | 'i64', value = 0): number {
    this.globals.push({ type, value });
    return this.globals.length - 1;
  }

  /** A mutable global of 128 bits, with a word in all lanes; its index. */
  vectorGlobal(word: number): number {
    return this.globals.push({ type: 'v128', words: [word, word, word, word], isMutable: true }) - 1;
  }

  /** The immutable global with a v128 constant; its index. */
  constant(w0: number, w1: number, w2: number, w3: number): number {
    const a = w0 | 0;
    const b = w1 | 0;
    const c = w2 | 0;
    const d = w3 | 0;
    const key = a ^ Math.imul(b - a, 3) ^ Math.imul(c - a, 5) ^ Math.imul(d - a, 7);
    const found = this.constants.get(key) ?? NONE;
    for (let n = 0; n < found.length; n++) {
      const index = found[n] as number;
      const { words } = this.globals[index] as { readonly words: readonly number[] };
      if (words[0] === a && words[1] === b && words[2] === c && words[3] === d) return index;
    }
    const index = this.globals.push({ type: 'v128', words: [a, b, c, d], isMutable: false }) - 1;
    this.constants.set(key, [...found, index]);
    return index;
  }

  export(name: string, f: WasmFunction): void {
    this.exports.push({ name, index: f.index });
  }

  /** Table 0 with these functions, in order. */
  table(functions: readonly WasmFunction[]): void {
    this.elements = functions.map((f) => f.index);
  }

  /** The bytes of the module. */
  finish(): Uint8Array<ArrayBuffer> {
    // Room for the code and the rest, so that nothing is copied to a larger place.
    const codeSize = this.functions.reduce((sum, f) => sum + f.size + FUNCTION_ROOM, 0);
    const out = new ByteSink(codeSize + MODULE_ROOM);
    out.raw(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
    const section = (id: number, count: number, write: (s: ByteSink) => void, capacity?: number): void => {
      if (count === 0) return;
      const body = new ByteSink(capacity);
      body.u32(count);
      write(body);
      out.byte(id);
      out.u32(body.length);
      out.raw(body.view());
    };
    section(1, this.typeBytes.length, (s) => {
      for (const t of this.typeBytes) s.raw(t);
    });
    section(2, this.imports.length + 1, (s) => {
      s.text(this.memory.module);
      s.text(this.memory.name);
      s.byte(2);
      s.byte(this.memory.shared ? 3 : 1);
      s.u32(this.memory.initial);
      s.u32(this.memory.maximum);
      for (const i of this.imports) {
        s.text(i.module);
        s.text(i.name);
        s.byte(0);
        s.u32(i.type);
      }
    });
    section(3, this.functions.length, (s) => {
      for (const t of this.functionTypes) s.u32(t);
    });
    section(4, this.elements.length === 0 ? 0 : 1, (s) => {
      s.raw(Uint8Array.of(0x70, 0));
      s.u32(this.elements.length);
    });
    section(6, this.globals.length, (s) => {
      for (const g of this.globals) {
        s.byte(TYPE_CODE[g.type]);
        if (g.type === 'v128') {
          s.raw(Uint8Array.of(g.isMutable ? 1 : 0, 0xfd, 12));
          for (const word of g.words) s.word(word);
        } else {
          s.raw(Uint8Array.of(1, g.type === 'i32' ? 0x41 : 0x42));
          s.s64(BigInt(g.value));
        }
        s.byte(0x0b);
      }
    });
    section(7, this.exports.length, (s) => {
      for (const e of this.exports) {
        s.text(e.name);
        s.byte(0);
        s.u32(e.index);
      }
    });
    section(9, this.elements.length === 0 ? 0 : 1, (s) => {
      s.raw(Uint8Array.of(0, 0x41, 0, 0x0b));
      s.u32(this.elements.length);
      for (const e of this.elements) s.u32(e);
    });
    section(
      10,
      this.functions.length,
      (s) => {
        for (const f of this.functions) f.finish(s);
      },
      codeSize,
    );
    this.writeNames(out);
    return new Uint8Array(out.view());
  }

  /** The helpers' names, as profilers and stack traces show them: a custom section. Source: WebAssembly specification, "Name Section". */
  private writeNames(out: ByteSink): void {
    const names = new ByteSink();
    names.u32(this.named.size);
    for (const [name, { index }] of this.named) {
      names.u32(index);
      names.text(name);
    }
    const body = new ByteSink();
    body.text('name');
    body.byte(1);
    body.u32(names.length);
    body.raw(names.view());
    out.byte(0);
    out.u32(body.length);
    out.raw(body.view());
  }
}
