// Timelines for Perfetto: everything that the page's timeline has, in lanes in which slices nest, with arrows from calls to what they launched.
// Read by a reader of its own, which drops what Perfetto drops.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { analyse, loadProfile, perfettoTrace } from '../src/profile/index.ts';
import { kernelTraceCsv, rocprofJson, writeRocpd, writeRocprofCsv } from './profile-fixtures.ts';
import fc from './support/fast-check.ts';
import { readTraceEvents, type Trace } from './support/trace-events.ts';

const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-perfetto-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));
let folders = 0;
const folder = (files: Readonly<Record<string, string>> = {}): string => {
  const path = join(temporary, `f${folders++}`);
  mkdirSync(path, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return path;
};
const textOf = (path: string): string => {
  const { recording } = loadProfile([path]);
  return [...perfettoTrace(recording, analyse(recording).dispatches.tracks)].join('');
};
const read = (path: string): Trace => readTraceEvents(textOf(path));
const of = (trace: Trace, cat: string) => trace.slices.filter((slice) => slice.cat === cat);

const CALLS = '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"';
const COPIES =
  '"Kind","Direction","Stream_Id","Source_Agent_Id","Destination_Agent_Id","Correlation_Id","Start_Timestamp","End_Timestamp"';
const [TRACE_HEADER = '', FIRST = ''] = kernelTraceCsv(1).split('\n');

/** Pieces of work: thread or queue, start, length, and the number of the call. */
interface Piece {
  readonly lane: number;
  readonly start: number;
  readonly length: number;
  readonly call: number;
}

function written(origin: bigint, calls: readonly Piece[], dispatches: readonly Piece[], copies: readonly Piece[]) {
  const times = ({ start, length }: Piece) => `${origin + BigInt(start)},${origin + BigInt(start + length)}`;
  const rows = (header: string, lines: readonly string[]) => `${[header, ...lines].join('\n')}\n`;
  const call = (kind: string) => (piece: Piece) =>
    `"${kind}","f${piece.call}",500,${piece.lane},${piece.call},${times(piece)}`;
  return folder({
    '500_hip_api_trace.csv': rows(CALLS, calls.filter((_, i) => i % 3 > 0).map(call('HIP_RUNTIME_API'))),
    '500_marker_api_trace.csv': rows(CALLS, calls.filter((_, i) => i % 3 === 0).map(call('MARKER_CORE_API'))),
    '500_kernel_trace.csv': rows(
      TRACE_HEADER,
      dispatches.map((piece, i) =>
        FIRST.replace(/"Agent 2",1,1,77,1,/, `"Agent 2",${piece.lane},1,77,${i + 1},`).replace(
          /1,1550000000000000,\d+/,
          `${piece.call},${times(piece)}`,
        ),
      ),
    ),
    '500_memory_copy_trace.csv': rows(
      COPIES,
      copies.map((p) => `"MEMORY_COPY","HOST_TO_DEVICE",${p.lane},"Agent 0","Agent 2",${p.call},${times(p)}`),
    ),
  });
}

describe('everything that ran', () => {
  const piece = (least: number) =>
    fc.record({
      lane: fc.integer({ min: 1, max: 2 }),
      start: fc.nat(60_000),
      length: fc.oneof(fc.integer({ min: least, max: 40 }), fc.integer({ min: least, max: 30_000 })),
      call: fc.integer({ min: 1, max: 12 }),
    });

  it.each([
    ['rounds', Math.round],
    ['cuts off', Math.trunc],
  ])('is drawn by a Perfetto that %s', (_, toInteger) => {
    const work = [fc.array(piece(0), { maxLength: 12 }), fc.array(piece(1), { minLength: 1, maxLength: 12 })] as const;
    fc.assert(
      fc.property(
        fc.bigInt({ min: 10n ** 6n, max: 2n ** 60n }),
        work[0],
        work[1],
        fc.array(piece(1), { maxLength: 6 }),
        (origin, calls, dispatches, copies) => {
          const trace = readTraceEvents(textOf(written(origin, calls, dispatches, copies)), toInteger);
          expect(trace.dropped).toEqual([]);
          const first = Math.min(...[...calls, ...dispatches, ...copies].map(({ start }) => start));
          const times = (list: readonly Piece[]) => list.map(({ start, length }) => [start - first, length]).sort();
          for (const [cat, list] of [
            ['call', calls],
            ['dispatch', dispatches],
            ['copy', copies],
          ] as const)
            expect(
              of(trace, cat)
                .map(({ ts, dur }) => [ts, dur])
                .sort(),
            ).toEqual(times(list));
          // The first call of a number launched what has it, unless that began before.
          const launched = [...dispatches, ...copies].filter(({ start, call }) => {
            const byNumber = [...calls.filter((__, i) => i % 3 > 0), ...calls.filter((__, i) => i % 3 === 0)];
            const source = byNumber.find((one) => one.call === call);
            return source !== undefined && source.start <= start;
          });
          expect(trace.flows).toHaveLength(launched.length);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('nests markers and calls of one thread, and keeps threads and processes apart', () => {
    const row = (name: string, thread: number, start: number, end: number, pid = 500) =>
      `"MARKER_CORE_RANGE_API","${name}",${pid},${thread},${start},${start},${end}`;
    const path = folder({
      '500_marker_api_trace.csv': `${[CALLS, row('outer', 7, 1000, 9000), row('inner', 7, 1000, 2000), row('other', 8, 1500, 9500)].join('\n')}\n`,
      '501_marker_api_trace.csv': `${[CALLS, row('outer', 7, 1000, 9000, 501)].join('\n')}\n`,
    });
    const { slices, dropped } = read(path);
    expect(dropped).toEqual([]);
    expect(slices.map(({ name, depth, thread }) => [name, depth, thread])).toEqual([
      ['outer', 0, 'MARKER_CORE_RANGE_API thread 7'],
      ['outer', 0, 'MARKER_CORE_RANGE_API thread 7 (process 1)'],
      ['inner', 1, 'MARKER_CORE_RANGE_API thread 7'],
      ['other', 0, 'MARKER_CORE_RANGE_API thread 8'],
    ]);
  });

  it('of two machines has two clocks, each from 0 on', () => {
    const agents = (units: number) =>
      `"Node_Id","Logical_Node_Id","Agent_Type","Cu_Count","Name"\n2,2,"GPU",${units},"gfx942"\n`;
    const path = folder({
      'a/agent_info.csv': agents(304),
      'a/kernel_trace.csv': kernelTraceCsv(3),
      'b/agent_info.csv': agents(228),
      'b/kernel_trace.csv': kernelTraceCsv(2).replaceAll('"Agent 2",1,1,77,1,', '"Agent 2",1,1,77,9,'),
    });
    const trace = read(path);
    expect(trace.dropped).toEqual([]);
    const processes = [...new Set(trace.slices.map(({ process }) => process))];
    expect(processes).toHaveLength(2);
    for (const process of processes) {
      expect(process).toContain('a clock of its own');
      expect(Math.min(...trace.slices.filter((s) => s.process === process).map(({ ts }) => ts))).toBe(0);
    }
  });
});

describe('arrows from calls to what they launched', () => {
  it.each([
    [
      'CSV',
      () => {
        const path = folder();
        writeRocprofCsv(path);
        return path;
      },
    ],
    ['JSON', () => folder({ 'results.json': rocprofJson(3) })],
    [
      'rocpd',
      () => {
        const path = folder();
        writeRocpd(join(path, 'results.db'), 3);
        return path;
      },
    ],
  ] as const)('%s', (_, make) => {
    const { flows, dropped } = read(make());
    expect(dropped).toEqual([]);
    expect(flows.some(([, to]) => to.cat === 'dispatch')).toBe(true);
    for (const [from, to] of flows) {
      expect(from.name).toBe('hipLaunchKernel');
      expect(to.ts).toBeGreaterThanOrEqual(from.ts);
    }
  });
});

describe('counter tracks', () => {
  it('have the value of a dispatch from its start to its end', () => {
    const path = folder();
    writeRocprofCsv(path);
    const { dropped, counters, slices } = read(path);
    expect(dropped).toEqual([]);
    const { tracks } = analyse(loadProfile([path]).recording).dispatches;
    expect(tracks.map(({ name }) => name)).toContain('HBM bandwidth');
    const starts = new Set(slices.filter(({ cat }) => cat === 'dispatch').map(({ ts }) => ts));
    for (const { name, points } of tracks) {
      const own = counters.filter((one) => one.name.startsWith(`${name} (`) && one.value > 0);
      expect(own.map(({ value }) => value)).toEqual(points.map(([, , value]) => value));
      for (const { ts } of own) expect(starts.has(ts)).toBe(true);
    }
  });

  it('go back to the dispatch below, then to 0', () => {
    const { recording } = loadProfile([folder({ 'kernel_trace.csv': kernelTraceCsv(1) })]);
    const track = {
      name: 'HBM bandwidth',
      unit: 'GB/s' as const,
      points: [
        [0, 100, 5],
        [20, 50, 7],
        [30, 60, 9],
        [100, 120, 5],
        [200, 210, 1],
      ] as const,
    };
    const { counters, dropped } = readTraceEvents([...perfettoTrace(recording, [track])].join(''));
    expect(dropped).toEqual([]);
    expect(new Set(counters.map(({ name }) => name)).size).toBe(1);
    expect(counters.map(({ ts, value }) => [ts, value])).toEqual([
      [0, 5],
      [20, 7],
      [30, 9],
      [60, 5],
      [120, 0],
      [200, 1],
      [210, 0],
    ]);
  });
});

describe('the reader', () => {
  const trace = (...events: object[]) =>
    readTraceEvents(
      JSON.stringify({
        traceEvents: [
          { ph: 'M', name: 'process_name', pid: 1, tid: 0, args: { name: 'p' } },
          { ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: { name: 't' } },
          ...events.map((event) => ({ ph: 'X', name: 's', pid: 1, tid: 1, ...event })),
        ],
      }),
    );

  it('drops what Perfetto drops', () => {
    expect(trace({ ts: 0, dur: 10 }, { ts: 5, dur: 10 }).dropped).toHaveLength(1);
    expect(trace({ ts: -1, dur: 10 }).dropped).toHaveLength(1);
    expect(trace({ ts: 0, dur: 1, bind_id: 3, flow_in: true }).dropped).toHaveLength(1);
    expect(trace({ ts: 0, dur: 1, tid: 2 }).dropped).toHaveLength(1);
    expect(trace({ ts: 0, dur: 10 }, { ts: 2, dur: 3 }, { ts: 10, dur: 5 }).dropped).toEqual([]);
  });
});
