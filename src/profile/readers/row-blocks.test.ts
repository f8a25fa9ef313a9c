// Rows that other threads make numbers of are the rows that the reader of bytes sees, wherever a table is cut and whatever stands in it.
import { expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import type { ByteSource } from '../source.ts';
import { readCsvRows } from './csv.ts';
import { CellIds, type TableRow } from './csv-row.ts';
import { RowBlock, type RowBlocks, type RowPlan } from './row-blocks.ts';
import { RowEncoder } from './row-encoder.ts';

/** Blocks of `step` bytes that two encoders make in turns, as two threads do. */
function blocksOf(bytes: Uint8Array, plan: RowPlan, step: number, made: { blocks: number }): RowBlocks {
  const read = (into: Uint8Array, offset: number, length: number): number => {
    const piece = bytes.subarray(offset, offset + length);
    into.set(piece);
    return piece.length;
  };
  const blocks = [new RowBlock(), new RowBlock()];
  const encoders = blocks.map((block) => new RowEncoder(plan, bytes.length, read, block, step));
  let n = Math.floor(plan.from / step);
  return {
    next() {
      if (n * step >= bytes.length) return undefined;
      const thread = n % 2;
      const isMade = encoders[thread].encode(blocks[thread], n++);
      if (!isMade) return undefined;
      made.blocks += Number(blocks[thread].rows > 0);
      return { block: blocks[thread], thread };
    },
    end() {},
  };
}

/** All that a handler can see of the rows of a text. */
function seen(text: string | Uint8Array, step?: number, made = { blocks: 0 }, reports: unknown[] = []): string[] {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  const found: string[] = [];
  const source: ByteSource = {
    path: 'x.csv',
    size: bytes.length,
    read: (at, n) => bytes.subarray(at, at + n),
    rowBlocks: step === undefined ? undefined : (plan) => blocksOf(bytes, plan, step, made),
  };
  const handler = (): ((row: TableRow) => void) => {
    const names: string[] = [];
    const ids = Array.from({ length: 8 }, () => new CellIds((cell) => names.push(cell ?? 'none') - 1));
    return (row) => {
      const cells = row.texts().map((_, i) => {
        const id = names[row.id(ids[i % 8], i)];
        return [row.text(i), row.digits(i), row.count(i), row.value(i), row.isEmptyAt(i), id];
      });
      found.push(JSON.stringify([row.part, row.length, cells, row.text(99), row.count(-1), row.id(ids[0], -1) >= 0]));
    };
  };
  try {
    const rows = readCsvRows(source, handler, (message) => reports.push([message, found.length]));
    found.push(String(rows));
  } catch (error) {
    found.push((error as Error).message);
  }
  return found;
}

/** What the reader of bytes reads at once. */
const PIECE = 1 << 16;

/** Expects of a text the same rows with blocks as without, and the same reports; with blocks of whole pieces at the same rows. */
function expectSame(text: string | Uint8Array, steps: readonly number[]): void {
  const ofBytes: [string, number][] = [];
  const rows = seen(text, undefined, undefined, ofBytes);
  for (const step of steps) {
    const reports: [string, number][] = [];
    const found = seen(text, step, undefined, reports);
    // A file that is none has an error before the rows of the piece.
    const isNone = typeof rows.at(-1) === 'string' && step % PIECE !== 0;
    expect(isNone ? found.at(-1) : found).toEqual(isNone ? rows.at(-1) : rows);
    const told = (all: [string, number][]) => (step % PIECE === 0 ? all : all.map(([message]) => message));
    expect(told(reports)).toEqual(told(ofBytes));
  }
}

/** A table whose first piece, which is read byte by byte, has two rows: what is behind them stands in `rows`. */
function table(rows: readonly string[], end: string): string {
  const long = `1,${'long'.repeat(PIECE / 8)},3,4${end}`;
  return `first,second,third,fourth${end}${long}${long}${rows.join('')}`;
}

const plain = fc.oneof(
  fc.integer({ min: 0, max: 99 }).map(String),
  fc.bigInt({ min: 0n, max: 2n ** 64n }).map(String),
  fc.constantFrom(
    '',
    'KERNEL_DISPATCH',
    'Agent 4',
    '007',
    '0',
    '1.5',
    '-3',
    '9007199254740991',
    '9007199254740993',
    '1e9',
    ' 5',
  ),
  fc.string({ unit: fc.constantFrom('a', 'b', '1', '0', ' ', '<', '.'), maxLength: 20 }),
);
const cell = fc.oneof(
  { weight: 3, arbitrary: plain },
  {
    weight: 2,
    arbitrary: fc.string({ unit: fc.constantFrom('x', ',', '2', ' ', '<'), maxLength: 12 }).map((text) => `"${text}"`),
  },
  { weight: 1, arbitrary: plain.map((text) => `"${text}"`) },
);
const good = fc.tuple(fc.integer({ min: 0, max: 9999 }), fc.array(cell, { minLength: 3, maxLength: 3 }));

for (const end of ['\n', '\r\n']) {
  test(`property: as the bytes have them, with ${JSON.stringify(end)} at the ends of rows`, () => {
    const made = { blocks: 0 };
    fc.assert(
      fc.property(fc.array(good, { minLength: 1, maxLength: 60 }), fc.integer({ min: 100, max: 900 }), (rows, step) => {
        const text = table(
          rows.map(([id, cells]) => `${id},${cells.join()}${end}`),
          end,
        );
        expect(seen(text, step, made)).toEqual(seen(text));
      }),
    );
    expect(made.blocks).toBeGreaterThan(100);
  });
}

const ODD = [
  ['a line end in a cell', '1,"x\ny",2,3\n'],
  ['a quote in a cell', '1,"say ""hi""",2,3\n'],
  ['a quote that does not close where the cell ends', '1,"x"y,2,3\n'],
  ['a quote that does not close', '1,"x,2,3\n'],
  ['a short row', '1,2\n'],
  ['a long row', '1,2,3,4,5\n'],
  ['an empty row', '\n'],
  ['no number where the others have one', 'x,1,2,3\n'],
  ['the header once more', 'first,second,third,fourth\n'],
  ['another header', 'second,first,fourth,third\n'],
  ['characters of more than a byte', '1,ü€,2,3\n'],
  ['a NUL', '1,\0,2,3\n'],
  ['no line end', '1,2,3,4'],
  ['spaces before cells', '1, 2, "x", 4\n'],
  ['a row as long as a block', `1,${'long'.repeat(600)},2,3\n`],
] as const;

test.each(ODD)('%s is read in one thread from there on', (_, odd) => {
  const before = Array.from({ length: 40 }, (_, i) => `${i},"kernel ${i % 7}",${i * i},x\n`);
  for (const rows of [
    [...before, odd, ...before],
    [...before, odd],
    [odd, ...before],
  ]) {
    const text = table(rows, '\n');
    expectSame(text, [99, 5000, PIECE]);
  }
});

test('bytes that are no UTF-8', () => {
  const rows = Array.from({ length: 40 }, (_, i) => `${i},k,2,x\n`);
  const bytes = new TextEncoder().encode(table([...rows, '1,?,2,3\n', ...rows], '\n'));
  bytes[bytes.indexOf(0x3f)] = 0xe9;
  expectSame(bytes, [100, PIECE]);
});
