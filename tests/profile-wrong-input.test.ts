// Input that is incomplete, doubled or impossible gives unknowns and findings, never a confident wrong number.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  analyse,
  isKnown,
  loadProfile,
  type Measure,
  type ProfileDocument,
  perfettoTrace,
  speedscopeFile,
} from '../src/profile/index.ts';
import {
  counterCsv,
  kernelTraceCsv,
  rocprofJson,
  sampleCodeObject,
  sampleSqtt,
  writeRocprofCsv,
} from './profile-fixtures.ts';
import fc from './support/fast-check.ts';
import { readTraceEvents } from './support/trace-events.ts';

const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-wrong-input-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));
let folders = 0;
const folder = (): string => {
  const path = join(temporary, `f${folders++}`);
  mkdirSync(path, { recursive: true });
  return path;
};
const read = (path: string): ProfileDocument => analyse(loadProfile([path]).recording);
const value = (measure: Measure | undefined): number => {
  if (measure === undefined || !isKnown(measure)) throw new Error(`unknown: ${measure?.unknown}`);
  return measure.value;
};
const codes = (document: ProfileDocument): string[] => document.findings.map((f) => f.code);

const AGENT_HEADER =
  '"Node_Id","Logical_Node_Id","Agent_Type","Cu_Count","Simd_Per_Cu","Num_Xcc","Max_Waves_Per_Cu","Max_Engine_Clk_Fcompute","Name","Product_Name"\n';
const MI300 = '2,2,"GPU",304,4,8,32,2100,"gfx942","AMD Instinct MI300X"\n';
const MI300_TOO = '3,3,"GPU",304,4,8,32,2100,"gfx942","AMD Instinct MI300X"\n';
const MI200 = '2,2,"GPU",104,4,1,32,1700,"gfx90a","AMD Instinct MI250X"\n';
const [TRACE_HEADER = '', FIRST_ROW = ''] = kernelTraceCsv(1).split('\n');

describe('times of a run', () => {
  const of = (hours: number): ProfileDocument => {
    const path = folder();
    const [header, first, ...rows] = kernelTraceCsv(6).trimEnd().split('\n');
    const later = (row: string) =>
      row.replace(/155\d{13}/g, (time) => String(BigInt(time) + BigInt(hours) * 3_600_000_000_000n));
    writeFileSync(join(path, '1_agent_info.csv'), AGENT_HEADER + MI300);
    writeFileSync(join(path, '1_kernel_trace.csv'), `${[header, first, ...rows.map(later)].join('\n')}\n`);
    return read(path);
  };

  it('hours apart are a finding, and take idle time and launching with them', () => {
    const document = of(30);
    expect(codes(document)).toEqual(['profile/work-apart']);
    expect(document.findings[0].message).toContain('30.0 hours');
    expect(document.answer.idleNs).toEqual({ unknown: expect.stringContaining('hours apart') });
    expect(document.kernels.flatMap(({ bottleneck }) => bottleneck.classes.map((c) => c.class))).not.toContain(
      'launch',
    );
  });

  it('together are none', () => {
    expect(codes(of(0))).toEqual([]);
  });
});

describe('an architecture that is given', () => {
  const trace = (agent: string): string => {
    const path = folder();
    writeFileSync(join(path, '1_kernel_trace.csv'), kernelTraceCsv(6));
    if (agent !== '') writeFileSync(join(path, '1_agent_info.csv'), AGENT_HEADER + agent);
    return path;
  };
  const archs = (path: string, arch: string) => {
    const document = analyse(loadProfile([path]).recording, { arch });
    return [[...new Set(document.kernels.map((kernel) => kernel.arch))], codes(document)];
  };

  it('is that of a recording which does not tell', () => {
    expect(archs(trace(''), 'gfx950')).toEqual([['gfx950'], []]);
  });

  it('is not used, and said, where the recording tells another', () => {
    expect(archs(trace(MI300), 'gfx942')).toEqual([['gfx942'], []]);
    expect(archs(trace(MI300), 'gfx950')).toEqual([['gfx942'], ['profile/agent-conflict']]);
  });
});

describe('tables of a run as people leave them', () => {
  const write = (name: string, more: (path: string, trace: string) => void): ProfileDocument => {
    const path = folder();
    const trace = kernelTraceCsv(6);
    writeFileSync(join(path, name), trace);
    writeFileSync(join(path, '1_agent_info.csv'), AGENT_HEADER + MI300);
    more(path, trace);
    return read(path);
  };

  it('a copy of a file counts once, and is a finding', () => {
    const document = write('1_kernel_trace.csv', (path, trace) =>
      writeFileSync(join(path, '1_kernel_trace (copy).csv'), trace),
    );
    expect(document.dispatches.total).toBe(6);
    expect(codes(document)).toEqual(['profile/duplicate-dispatch']);
  });

  it('a table without its columns, or with other separators, is a finding', () => {
    const document = write('1_kernel_trace.csv', (path, trace) => {
      writeFileSync(join(path, '2_kernel_trace.csv'), trace.replaceAll(',', '\t'));
      writeFileSync(join(path, '3_kernel_trace.csv'), trace.replace('"Kernel_Name"', '"Title"'));
    });
    expect(document.dispatches.total).toBe(6);
    expect(codes(document)).toEqual(['profile/damaged-file', 'profile/damaged-file']);
  });

  it('a table whose last row has no line end is read the same, and may be cut', () => {
    const whole = write('1_kernel_trace.csv', () => undefined);
    const open = write('1_kernel_trace.csv', (path, trace) =>
      writeFileSync(join(path, '1_kernel_trace.csv'), trace.trimEnd()),
    );
    expect(codes(whole)).toEqual([]);
    expect(open.kernels).toEqual(whole.kernels);
    expect(open.dispatches).toEqual(whole.dispatches);
    expect(open.findings).toMatchObject([
      { code: 'profile/open-end', file: expect.stringContaining('1_kernel_trace.csv') },
    ]);
  });

  it('every cut inside a row after the first is a finding', () => {
    const trace = kernelTraceCsv(6);
    const second = trace.indexOf('\n', trace.indexOf('\n') + 1) + 1;
    const inside = [...trace.matchAll(/[^\n]{5}/g)].map(({ index }) => index + 5).filter((at) => at > second);
    expect(inside.length).toBeGreaterThan(60);
    for (const at of inside) {
      const cut = write('1_kernel_trace.csv', (path) =>
        writeFileSync(join(path, '1_kernel_trace.csv'), trace.slice(0, at)),
      );
      expect(codes(cut), `cut at ${at}`).toContain('profile/open-end');
    }
  });

  const utf16 = (text: string, isBig: boolean, hasMark: boolean): Uint8Array => {
    const bytes = Buffer.from(hasMark ? `\ufeff${text}` : text, 'utf16le');
    return isBig ? bytes.swap16() : bytes;
  };
  it.each([
    ['UTF-16LE', false, true],
    ['UTF-16BE', true, true],
    ['UTF-16LE', false, false],
    ['UTF-16BE', true, false],
  ] as const)('%s is named, with what to do', (name, isBig, hasMark) => {
    const document = write('1_kernel_trace.csv', (path, trace) =>
      writeFileSync(join(path, 'counters.csv'), utf16(trace, isBig, hasMark)),
    );
    expect(document.dispatches.total).toBe(6);
    expect(document.findings).toMatchObject([
      { code: 'profile/damaged-file', message: expect.stringMatching(`encoded in ${name}\\..*Convert it to UTF-8`) },
    ]);
    const alone = folder();
    writeFileSync(join(alone, 'results.json'), utf16('{"rocprofiler-sdk-tool": []}', isBig, hasMark));
    expect(() => read(alone)).toThrow(`encoded in ${name}`);
  });

  it('a header in the middle of a file is no dispatch; spaces around names do not matter', () => {
    const [header = '', ...rows] = kernelTraceCsv(6).trimEnd().split('\n');
    const spaced = header.replaceAll('"', '').replaceAll(',', ' , ');
    const document = write('1_kernel_trace.csv', (path) => {
      const parts = [spaced, ...rows.slice(0, 3), spaced, ...rows.slice(3)];
      writeFileSync(join(path, '1_kernel_trace.csv'), `${parts.join('\n')}\n`);
    });
    expect(document.dispatches).toMatchObject({ total: 6, timed: 6 });
    expect(codes(document)).toEqual([]);
  });

  it('counters without the names of their kernels say so', () => {
    const path = folder();
    writeFileSync(join(path, '1_counter_collection.csv'), counterCsv().replace('"Kernel_Name"', '"Title"'));
    writeFileSync(join(path, '1_agent_info.csv'), AGENT_HEADER + MI300);
    expect(codes(read(path))).toContain('profile/unnamed-kernel');
  });
});

describe('two GPUs', () => {
  const path = folder();
  writeFileSync(join(path, '1_agent_info.csv'), AGENT_HEADER + MI300 + MI300_TOO);
  const row = (agent: number, id: number, start: number) =>
    FIRST_ROW.replace('"Agent 2",1,1,77,1,', `"Agent ${agent}",1,${agent},77,${id},`).replace(
      /1550000000000000,\d+/,
      `${start},${start + 1000}`,
    );
  writeFileSync(
    join(path, '1_kernel_trace.csv'),
    `${[TRACE_HEADER, row(2, 1, 5000), row(3, 2, 6000), row(2, 3, 7000), row(3, 4, 8000)].join('\n')}\n`,
  );
  const document = read(path);

  it('have kernels of their own, shown with their GPU', () => {
    expect(document.kernels.map((k) => [k.agent, k.calls]).sort()).toEqual([
      ['Agent 2', 2],
      ['Agent 3', 2],
    ]);
  });

  it('have no kernel with more time on the critical path than it has', () => {
    for (const kernel of document.kernels) {
      expect(value(kernel.critical.criticalNs)).toBeLessThanOrEqual(value(kernel.totalNs));
    }
    expect(document.criticalPath.symbols.map((s) => s.agent).sort()).toEqual(['Agent 2', 'Agent 3']);
  });
});

describe('folders of two machines', () => {
  const path = folder();
  for (const [name, agents, start] of [
    ['a', MI300, 1_000_000],
    ['b', MI200, 900_000_000_000],
  ] as const) {
    mkdirSync(join(path, name));
    writeFileSync(join(path, name, '1_agent_info.csv'), AGENT_HEADER + agents);
    const rows = kernelTraceCsv(6).replace(/155\d{13}/g, (time) =>
      String(BigInt(time) - 1_550_000_000_000_000n + BigInt(start)),
    );
    writeFileSync(join(path, name, '1_kernel_trace.csv'), rows);
  }
  const document = read(path);

  it('are told, and are not joined', () => {
    expect(codes(document)).toEqual(['profile/agent-conflict', 'profile/several-recordings']);
    expect(document.dispatches.total).toBe(12);
    expect(new Set(document.kernels.map((k) => k.arch))).toEqual(new Set(['gfx942', 'gfx90a']));
    expect(document.kernels).toHaveLength(6);
  });

  it('do not make a timeline of two clocks', () => {
    expect(document.criticalPath.nodes).toBe(6);
    expect(value(document.criticalPath.spanNs)).toBeLessThan(100_000);
  });
});

describe('impossible values', () => {
  /** A run whose dispatch of the counters takes `ns`, with counters changed by `edit`. */
  const run = (ns: number, edit: (csv: string) => string = (csv) => csv): ProfileDocument => {
    const path = folder();
    writeRocprofCsv(path);
    const trace = kernelTraceCsv(12).split('\n');
    trace[1] = (trace[1] ?? '').replace(/1550000000000000,\d+/, `1550000000000000,${1_550_000_000_000_000 + ns}`);
    writeFileSync(join(path, '500_kernel_trace.csv'), trace.join('\n'));
    writeFileSync(join(path, 'pmc_1', '501_counter_collection.csv'), edit(counterCsv()));
    return read(path);
  };
  const scale = (document: ProfileDocument) => {
    const found = document.kernels.find((k) => k.name.includes('scale'));
    if (found === undefined) throw new Error('no kernel');
    return found;
  };

  it('are absent from a sound run', () => {
    expect(codes(run(2000))).toEqual([]);
  });

  it('are bandwidths above the peak: the time is shorter than the bytes need', () => {
    const document = run(40);
    expect(codes(document)).toContain('profile/impossible-value');
    const [finding] = document.findings.filter((f) => f.code === 'profile/impossible-value');
    expect(finding?.message).toMatch(/HBM bandwidth is \d{3,}% of the peak/);
    expect(finding).toMatchObject({ severity: 'error', kernel: scale(document).name });
    for (const found of scale(document).bottleneck.classes) {
      expect(found.confidence).toBeLessThanOrEqual(0.1);
      expect(isKnown(found.headroom)).toBe(false);
    }
  });

  it('are less bytes in L2 than in HBM', () => {
    const l2 = (requests: number) => (csv: string) =>
      csv +
      csv
        .split('\n')
        .filter((line) => line.includes('"SQ_WAVES"'))
        .flatMap((line) =>
          [
            'TCP_TCC_READ_REQ_sum',
            'TCP_TCC_WRITE_REQ_sum',
            'TCP_TCC_ATOMIC_WITH_RET_REQ_sum',
            'TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum',
          ].map((name, i) => `${line.replace('"SQ_WAVES",1024.000000', `"${name}",${i < 2 ? requests : 0}`)}\n`),
        )
        .join('');
    // 128 bytes read and 64 written with every pair of requests; HBM moves 2 MiB.
    expect(codes(run(2000, l2(11_000)))).toEqual([]);
    expect(
      run(2000, l2(100))
        .findings.map((f) => f.message)
        .join(),
    ).toMatch(/although HBM is behind L2/);
  });
});

describe('cache lines', () => {
  it('of gfx942 and gfx950 are 128 bytes: 65,536 requests read 8 MiB, and the L1 peak is counted alike', () => {
    for (const [arch, bytes] of [
      ['gfx90a', 64],
      ['gfx942', 128],
      ['gfx950', 128],
    ] as const) {
      const path = folder();
      const names = {
        TCP_TCC_READ_REQ_sum: 65_536,
        TCP_TCC_WRITE_REQ_sum: 0,
        TCP_TCC_ATOMIC_WITH_RET_REQ_sum: 0,
        TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum: 0,
        TCP_TOTAL_CACHE_ACCESSES_sum: 1000,
      };
      const [header = '', line = ''] = counterCsv().split('\n');
      const rows = Object.entries(names).map(([name, n]) => line.replace('"SQ_WAVES",1024.000000', `"${name}",${n}`));
      writeFileSync(join(path, 'counters.csv'), `${[header, ...rows].join('\n')}\n`);
      const [kernel] = analyse(loadProfile([path]).recording, { arch }).kernels;
      expect(value(kernel?.metrics['bytes.l2']?.value)).toBe(65_536 * bytes);
      expect(value(kernel?.metrics['bytes.l1']?.value)).toBe(1000 * bytes);
    }
  });
});

describe('exports of overlapping work', () => {
  const run = (spans: readonly (readonly [number, number])[]) => {
    const path = folder();
    const rows = spans.map(([start, length], i) =>
      FIRST_ROW.replace('77,1,', `77,${i + 1},`).replace(
        /1550000000000000,\d+/,
        `${start + 1000},${start + length + 1000}`,
      ),
    );
    writeFileSync(join(path, 't.csv'), `${[TRACE_HEADER, ...rows].join('\n')}\n`);
    return loadProfile([path]).recording;
  };

  it('draw every piece, in lanes in which slices nest', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(500), fc.integer({ min: 1, max: 200 })), { minLength: 1, maxLength: 40 }),
        (spans) => {
          const recording = run(spans);
          const { slices, dropped } = readTraceEvents([...perfettoTrace(recording)].join(''));
          expect(slices).toHaveLength(recording.dispatches.length);
          expect(dropped).toEqual([]);
          const scope = JSON.parse([...speedscopeFile(recording, 'x')].join('')) as {
            profiles: { events: { type: string; at: number }[] }[];
          };
          for (const { events: own } of scope.profiles) {
            own.forEach((event, i) => {
              expect(event.type).toBe(i % 2 === 0 ? 'O' : 'C');
              expect(event.at).toBeGreaterThanOrEqual(own[i - 1]?.at ?? 0);
            });
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('raw thread traces', () => {
  const load = (att: Uint8Array, code: Uint8Array) => {
    const path = folder();
    writeFileSync(join(path, 'trace.att'), att);
    writeFileSync(join(path, 'code.co'), code);
    return loadProfile([path]).recording;
  };

  it('paint the time between the last instruction and the end as idle', () => {
    const { traces, findings } = load(sampleSqtt(0x7000_0000), sampleCodeObject());
    expect(findings).toEqual([]);
    for (const wave of traces[0]?.waves ?? []) {
      const painted = wave.timeline.reduce((sum, [, cycles]) => sum + cycles, 0);
      expect(painted).toBe(wave.end - wave.begin);
      const busy = wave.instructions.reduce((sum, one) => sum + one.duration - one.stall, 0);
      const executing = wave.timeline.reduce((sum, [state, cycles]) => sum + (state === 'exec' ? cycles : 0), 0);
      expect(executing).toBeLessThanOrEqual(busy);
      expect(wave.timeline.some(([state]) => state === 'idle')).toBe(true);
    }
  });

  it('give no sums with the code of another kernel', () => {
    const recording = load(sampleSqtt(0x7000_0000), sampleCodeObject('adds'));
    expect(recording.findings.map((f) => f.rule)).toContain('sqtt/wrong-code');
    expect(recording.traces[0]?.lines).toEqual([]);
    const [trace] = analyse(recording).traces;
    expect(isKnown(trace?.idleShare ?? { unknown: '' })).toBe(false);
  });

  it('tell of most flipped bits that change what is read', () => {
    const good = sampleSqtt(0x7000_0000, 4, 3, 20);
    const facts = (att: Uint8Array) => {
      const { traces, findings } = load(att, sampleCodeObject());
      return [JSON.stringify([traces[0]?.waves, traces[0]?.lines]), findings.length] as const;
    };
    const [expected, none] = facts(good);
    expect(none).toBe(0);
    let changed = 0;
    let told = 0;
    for (let bit = 64; bit < 8 * good.length; bit += 61) {
      const bad = good.slice();
      bad[bit >> 3] = (bad[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const [now, count] = facts(bad);
      if (now === expected) continue;
      changed++;
      if (count > 0) told++;
    }
    expect(changed).toBeGreaterThan(20);
    // A pause at the start of a packet may have any length; so may the share of the steps that long tokens leave.
    expect(told / changed).toBeGreaterThan(0.85);
  });

  it('tell of traces that end early, wherever that is', () => {
    const good = sampleSqtt(0x7000_0000, 4);
    const silent: number[] = [];
    const [whole] = load(good, sampleCodeObject()).traces;
    for (let end = 8; end < good.length; end++) {
      const { traces, findings } = load(good.subarray(0, end), sampleCodeObject());
      if (findings.length === 0 && JSON.stringify(traces[0]?.lines) !== JSON.stringify(whole?.lines)) silent.push(end);
    }
    expect(silent).toEqual([]);
  });
});

describe('JSON of rocprofv3', () => {
  type Part = { kernel_symbols: object[]; buffer_records: unknown };
  const edited = (edit: (parts: Part[]) => void): ProfileDocument => {
    const path = folder();
    const whole = JSON.parse(rocprofJson(9)) as Record<string, Part[]>;
    edit(whole['rocprofiler-sdk-tool'] ?? []);
    writeFileSync(join(path, '500_results.json'), JSON.stringify(whole));
    return read(path);
  };

  it('with a part that is a copy counts its dispatches once', () => {
    const document = edited((parts) => parts.push(structuredClone(parts[0] as Part)));
    expect(document.dispatches.total).toBe(9);
    expect(codes(document)).toEqual(['profile/duplicate-dispatch']);
  });

  it('with a part of another process counts both', () => {
    const document = edited((parts) => {
      const text = JSON.stringify(parts[0]).replace(/"(start|end)_timestamp":1/g, '"$1_timestamp":2');
      parts.push(JSON.parse(text) as Part);
    });
    expect(document.dispatches.total).toBe(18);
    expect(codes(document)).toEqual([]);
  });

  it('in which one number names two kernels says so', () => {
    const document = edited(([part]) => {
      part?.kernel_symbols.push({ ...part.kernel_symbols[0], formatted_kernel_name: 'another' });
    });
    expect(codes(document)).toEqual(['profile/bad-record']);
  });

  it('with a dispatch without a number says so', () => {
    const document = edited(([part]) => {
      const records = part?.buffer_records as { kernel_dispatch: { dispatch_info: object }[] };
      Object.assign(records.kernel_dispatch[0]?.dispatch_info ?? {}, { dispatch_id: null });
    });
    expect(codes(document)).toEqual(['profile/bad-record']);
  });
});

describe('rows', () => {
  it('that describe a dispatch twice count once, in one file and in two', () => {
    const path = folder();
    const rows = kernelTraceCsv(3).trim().split('\n');
    writeFileSync(join(path, '1_kernel_trace.csv'), `${[...rows, rows[2]].join('\n')}\n`);
    mkdirSync(join(path, 'copy'));
    writeFileSync(join(path, 'copy', '1_kernel_trace.csv'), kernelTraceCsv(3));
    const document = read(path);
    expect(document.dispatches.total).toBe(3);
    expect(codes(document)).toEqual(['profile/duplicate-dispatch', 'profile/duplicate-dispatch']);
  });

  it('with times in another unit than nanoseconds have no times', () => {
    const path = folder();
    const micro = (time: string) => ((Number(time) + 123) / 1000).toFixed(3);
    writeFileSync(join(path, '1_kernel_trace.csv'), kernelTraceCsv(3).replace(/155\d{13}/g, micro));
    const document = read(path);
    expect(document.kernels.filter((kernel) => isKnown(kernel.totalNs) && kernel.timed === kernel.calls)).toEqual([]);
    expect(document.findings.map((f) => f.message).join()).toContain('no whole nanoseconds');
  });

  it('with a number of a dispatch that no profiler counts to say so', () => {
    const path = folder();
    const rows = kernelTraceCsv(3).trim().split('\n');
    rows[2] = (rows[2] ?? '').replace(',77,2,', ',77,18446744073709551615,');
    writeFileSync(join(path, '1_kernel_trace.csv'), `${rows.join('\n')}\n`);
    const document = read(path);
    expect(document.dispatches.total).toBe(3);
    expect(codes(document)).toContain('profile/bad-record');
  });

  it('of another process with the same ids are other dispatches', () => {
    const path = folder();
    writeFileSync(join(path, '1_kernel_trace.csv'), kernelTraceCsv(3));
    writeFileSync(join(path, '2_kernel_trace.csv'), kernelTraceCsv(3).replaceAll('15500000000', '15500000001'));
    expect(read(path).dispatches.total).toBe(6);
  });

  it('without times are not part of the total, which says so', () => {
    const path = folder();
    const rows = kernelTraceCsv(6).trim().split('\n');
    rows[1] = (rows[1] ?? '').replace(/1550000000000000,\d+/, '0,0');
    writeFileSync(join(path, '1_kernel_trace.csv'), `${rows.join('\n')}\n`);
    const document = read(path);
    expect(codes(document)).toEqual(['profile/unusable-time', 'profile/untimed-calls']);
    expect(document.findings[1]?.message).toMatch(/^1 of 2 calls of /);
  });

  it('are missed where a file has none, and a profile without any data is an error', () => {
    const path = folder();
    writeRocprofCsv(path);
    const [header = ''] = readFileSync(join(path, '500_memory_copy_trace.csv'), 'utf8').split('\n');
    writeFileSync(join(path, '500_memory_copy_trace.csv'), `${header}\n`);
    writeFileSync(join(path, 'nothing.csv'), '');
    expect(codes(read(path))).toEqual(['profile/empty-file', 'profile/empty-file']);
    const calls = folder();
    const columns = '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"';
    writeFileSync(join(calls, 'rccl_trace.csv'), `${columns}\n"RCCL_API","ncclAllReduce",7,7,1,1000,5000\n`);
    const document = read(calls);
    expect(codes(document)).toEqual(['profile/no-dispatches']);
    expect(document.findings[0]?.message).toContain('API calls and markers 1, copies 0');
    const empty = folder();
    writeFileSync(join(empty, '1_kernel_trace.csv'), `${TRACE_HEADER}\n`);
    expect(() => read(empty)).toThrow(expect.objectContaining({ code: 'profile/nothing-found' }));
  });
});
