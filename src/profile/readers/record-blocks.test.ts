// Records that other threads make numbers of are the values that the reader of bytes hands over, wherever a file is cut and whatever stands in it.
import { expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { WavesmithError } from '../../base/index.ts';
import type { ByteSource } from '../source.ts';
import { streamJson } from './json-stream.ts';
import { RecordEncoder } from './record-encoder.ts';
import { type RecordPlan, RowBlock, type RowBlocks } from './row-blocks.ts';

/** Blocks of `step` bytes that two encoders make in turns, as two threads do; none from number `failing` on. */
function blocksOf(
  bytes: Uint8Array,
  plan: RecordPlan,
  step: number,
  made: { rows: number },
  failing: number,
): RowBlocks {
  const read = (into: Uint8Array, offset: number, length: number): number => {
    const piece = bytes.subarray(offset, offset + length);
    into.set(piece);
    return piece.length;
  };
  const blocks = [new RowBlock(), new RowBlock()];
  const encoders = blocks.map(() => new RecordEncoder(plan, bytes.length, read, step));
  const first = Math.floor(plan.from / step);
  let n = first;
  return {
    next() {
      if (n * step >= bytes.length || n - first >= failing) return undefined;
      const thread = n % 2;
      encoders[thread].encode(blocks[thread], n++);
      made.rows += blocks[thread].rows;
      return { block: blocks[thread], thread };
    },
    end() {},
  };
}

interface Options {
  readonly step?: number;
  /** Bytes that are read at once. */
  readonly piece?: number;
  readonly ahead?: number;
  readonly failing?: number;
  readonly made?: { rows: number };
}

/** Values and their paths as text, and at last what the error says where there is one. */
function seen(text: string | Uint8Array, options: Options = {}): string[] {
  const { step, piece = 1 << 16, ahead = 0, failing = Number.POSITIVE_INFINITY, made = { rows: 0 } } = options;
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  const source: ByteSource = {
    path: 'x.json',
    size: bytes.length,
    read: (at, n) => bytes.slice(at, at + Math.min(n, piece)),
    recordBlocks: step === undefined ? undefined : (plan) => blocksOf(bytes, plan, step, made, failing),
  };
  const found: string[] = [];
  const exact = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value);
  try {
    streamJson(
      source,
      ['$.a.*', '$.b', '$.c.*.d.*'],
      (path, value) => {
        const isLong = typeof value === 'string' && value.length > 1000;
        found.push(`${path.join('.')} ${JSON.stringify(isLong ? 'long' : value, exact)}`);
      },
      ahead,
    );
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    found.push(JSON.stringify([error.code, error.message, error.position]));
  }
  return found;
}

/** Expects the same values, or the same error: how many values come before an error depends on which are parsed together. */
function expectSame(text: string | Uint8Array, options: Options): void {
  const [found, expected] = [seen(text, options), seen(text)];
  const isDamaged = expected.at(-1)?.startsWith('["profile/bad-json"') === true;
  expect(found.at(-1)).toBe(expected.at(-1));
  const count = isDamaged ? Math.min(found.length, expected.length) - 1 : undefined;
  expect(found.slice(0, count)).toEqual(expected.slice(0, count));
}

/** What is parsed together before a record shows how the next ones are read. */
const LONG = `"${'x'.repeat(65_480)}"`;

const digits = fc.oneof(
  { weight: 300, arbitrary: fc.oneof(fc.nat(9), fc.nat(), fc.maxSafeNat()).map(String) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['-5', '1.5', '2e3', 'null', '"7"', '"N/A"', '"\\u00011"', '9007199254740993', '18446744073709551615', 'NaN'],
      ...['007', '{"x":1}', '[1,2]', '"a \\" , {\\"t\\":1"', '"käse €"', '9007199254740991', '', ' 12\n'],
    ),
  },
);
const shapes: readonly ((n: readonly string[]) => string)[] = [
  ([a, b, c]) => `{"t":${a},"id":{"handle":${b}},"sizes":[${c},1,${a}]}`,
  ([a, b, c]) => `{\n  "t": ${a},\n  "id": {\n    "handle": ${b}\n  },\n  "n": ${c}\n}`,
  ([a, b]) => `[${a},${b}]`,
  ([a, b]) => `[{"t":${a}},{"t":${b}}]`,
  ([a]) => `{"t":${a}}`,
  ([a, b]) => `{"name":"a \\"b\\", {\\"t\\":1} ü","t":${a},"u":${b}}`,
  ([a]) => `{"t":"${a}"}`,
];
const record = fc.tuple(fc.array(digits, { minLength: 3, maxLength: 3 }), fc.nat(30), fc.constantFrom('', ' ', '\n  '));
const which = fc.nat(shapes.length - 1);

test('property: as the bytes have them', () => {
  const made = { rows: 0 };
  fc.assert(
    fc.property(
      fc.tuple(which, which, fc.array(record, { minLength: 20, maxLength: 150 })),
      fc.record({
        step: fc.integer({ min: 40, max: 900 }),
        piece: fc.integer({ min: 65_570, max: 66_000 }),
        ahead: fc.constantFrom(0, 0, 700),
        failing: fc.constantFrom(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 3),
      }),
      fc.record({ cut: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(3000)), bom: fc.boolean() }),
      ([main, other, records], options, { cut, bom }) => {
        const texts = records.map(([numbers, at, gap]) => gap + shapes[at === 0 ? other : main](numbers) + gap);
        const list = `[${LONG},${texts.join()}]`;
        const whole = `${bom ? '\uFEFF' : ''}{"c":[{"d":${list}}],"a":${list},"b":{"e":[1,2]}}`;
        const text = cut > 0 ? whole.slice(0, -cut) : whole;
        expectSame(text, { ...options, made });
      },
    ),
    { numRuns: 500 },
  );
  expect(made.rows).toBeGreaterThan(2000);
});

/** Records as a profiler writes them, `n` of them from number `from` on. */
const plain = (n: number, from = 0): string[] =>
  Array.from({ length: n }, (_, i) => `{"t":${1_550_000_000_000_000 + 7 * (from + i)},"id":{"handle":${i % 3}}}`);

test.each([
  ['one of another order', '{"id":{"handle":1},"t":1}'],
  ['a time beyond 2^53', '{"t":9007199254740993,"id":{"handle":1}}'],
  ['a text for a number', '{"t":"N/A","id":{"handle":1}}'],
  ['what looks like records in a text', '{"t":"{\\"t\\":1,\\"id\\":{\\"handle\\":1}},{\\"t\\":2","id":{"handle":1}}'],
  ['records inside of a record', `{"t":1,"id":{"handle":1},"more":[${plain(30).join()}]}`],
  ['a list of records', `[${plain(30).join()}]`],
  ['one of many bytes', `{"t":1,"text":"${'z'.repeat(5000)}"}`],
  ['many spaces', `${' '.repeat(5000)}{"t":1,"id":{"handle":1}}`],
  ['a damaged one', '{"t":1,"id":{"handle":}}'],
  ['none', ''],
  ['a missing comma', '{"t":1,"id":{"handle":1}} {"t":2,"id":{"handle":1}}'],
  ['a bracket too much', '{"t":1,"id":{"handle":1}}]'],
])('%s among others', (_, odd) => {
  for (const records of [
    [...plain(200), odd, ...plain(200, 500)],
    [...plain(200), odd],
    [...plain(60), odd, odd, ...plain(3), odd, ...plain(200)],
  ]) {
    const text = `{"a":[${LONG},${records.join()}],"b":1}`;
    for (const step of [64, 333, 4096]) {
      const made = { rows: 0 };
      expectSame(text, { step, made, piece: 65_700 });
      if (step > 64) expect(made.rows).toBeGreaterThan(30);
    }
  }
});

test('lists one after the other have blocks of their own', () => {
  const lists = ['a', 'b', 'a'].map((name) => `"${name}":[${LONG},${plain(2000).join()}]`);
  const text = `{${lists.join()},"c":[{"d":[${plain(3).join()}]},{"d":[${LONG},${plain(2000).join(' ,\n')}]}]}`;
  const made = { rows: 0 };
  expectSame(text, { step: 1000, made });
  expect(made.rows).toBeGreaterThan(3000);
});
