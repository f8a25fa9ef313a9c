// Kernels that the profiler runs several times, once for each group of counters, and counters sampled over time: neither is a further dispatch.
import { describe, expect, test } from 'vitest';
import { kernelTraceCsv, writeDatabase, writeRocpd } from './profile-fixtures.ts';
import { codes, profileFolders } from './support/profile-folder.ts';

const { read } = profileFolders();
const COLUMNS =
  'Correlation_Id,Dispatch_Id,Replay_Pass,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,Kernel_Id,Kernel_Name,Workgroup_Size,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp';
const BEGIN = 1_550_000_000_000_000;

/** Rows of two dispatches with three replays each; `countersOf` has what a replay counted. */
const replays = (countersOf: (pass: number) => Readonly<Record<string, number>>): string => {
  const rows = [1, 2].flatMap((id) =>
    [0, 1, 2].flatMap((pass) =>
      Object.entries(countersOf(pass)).map(([name, value]) => {
        const start = BEGIN + id * 100_000 + pass * 10_000;
        return `${id},${id},${pass},"Agent 2",1,500,77,65536,10,"k",256,0,0,16,0,32,"${name}",${value},${start},${start + 2000}`;
      }),
    ),
  );
  return `${[COLUMNS, ...rows].join('\n')}\n`;
};

describe('replays in tables', () => {
  test('a counter of each replay is no instance of it', () => {
    const document = read({ '1_counter_collection.csv': replays((pass) => ({ GRBM_GUI_ACTIVE: 4000 + 10 * pass })) });
    expect(document.kernels[0]).toMatchObject({
      calls: 2,
      counters: { GRBM_GUI_ACTIVE: { sum: 8000, dispatches: 2 } },
    });
    expect(codes(document)).not.toContain('profile/counter-instances');
  });

  test('counters of different replays are of one dispatch, and a trace has it once', () => {
    const groups = [{ SQ_WAVES: 1024 }, { SQ_INSTS_VALU: 5000 }, { TCC_HIT_sum: 77 }];
    const [header] = kernelTraceCsv(0).split('\n');
    const rows = [1, 2].flatMap((id) =>
      [0, 1, 2].map((pass) => {
        const start = BEGIN + id * 100_000 + pass * 10_000;
        return `"KERNEL_DISPATCH","Agent 2",1,1,77,${id},10,"k",${id},${start},${start + 2000},0,0,16,0,32,256,1,1,65536,1,1`;
      }),
    );
    const document = read({
      '1_counter_collection.csv': replays((pass) => groups[pass]),
      '1_kernel_trace.csv': `${[header, ...rows].join('\n')}\n`,
    });
    expect(document.kernels[0]).toMatchObject({ calls: 2, totalNs: { value: 4000 } });
    expect(document.kernels[0].counters).toEqual({
      SQ_INSTS_VALU: { sum: 10_000, dispatches: 2 },
      SQ_WAVES: { sum: 2048, dispatches: 2 },
      TCC_HIT_sum: { sum: 154, dispatches: 2 },
    });
    expect(codes(document)).toContain('profile/joined-passes');
  });
});

test('replays in a database', () => {
  const document = read({
    'results.db': (path) => {
      writeRocpd(path, 3, '');
      const columns =
        'nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z';
      writeDatabase(path, [
        'ALTER TABLE rocpd_kernel_dispatch ADD COLUMN replay_pass INTEGER',
        'UPDATE rocpd_kernel_dispatch SET replay_pass = 0',
        'INSERT INTO rocpd_event (id, category_id, stack_id) SELECT id + 100, category_id, stack_id FROM rocpd_event WHERE id <= 3',
        `INSERT INTO rocpd_kernel_dispatch (${columns}, start, "end", event_id, replay_pass) SELECT ${columns}, start + 50000, "end" + 50000, event_id + 100, 1 FROM rocpd_kernel_dispatch`,
        "INSERT INTO rocpd_info_pmc (id, nid, pid, agent_id, name) VALUES (2, 1, 1, 4, 'SQ_INSTS_VALU')",
        'INSERT INTO rocpd_pmc_event (event_id, pmc_id, value) VALUES (101, 1, 1030), (101, 2, 300), (101, 2, 400)',
      ]);
    },
  });
  expect(document.kernels.map(({ calls }) => calls)).toEqual([1, 1, 1]);
  const [counted] = document.kernels.filter(({ counters }) => counters.SQ_WAVES !== undefined);
  expect(counted.counters).toEqual({
    SQ_INSTS_VALU: { sum: 700, dispatches: 1 },
    SQ_WAVES: { sum: 1024, dispatches: 1 },
  });
  expect(codes(document)).toContain('profile/joined-passes');
});

describe('counters sampled over time', () => {
  const samples = `${COLUMNS.replace('Replay_Pass,', '').replace('Start_Timestamp,End_Timestamp', 'Timestamp')}\n${[
    0, 1, 2,
  ]
    .map(
      (i) =>
        `1,1,"Agent 2",1,500,77,65536,10,"k",256,0,0,16,0,32,"SQ_WAVES[XCC: 0, SE: 0, Instance: 0]",${10 + i},${BEGIN + i}`,
    )
    .join('\n')}\n`;

  test('are no counters of dispatches', () => {
    const document = read({ 'out_spm_counter_collection.csv': samples, 'out_kernel_trace.csv': kernelTraceCsv(3) });
    expect(document.dispatches.total).toBe(3);
    expect(document.kernels.map(({ counters }) => counters)).toEqual([{}, {}, {}]);
    expect(codes(document)).toEqual(['profile/other-format']);
  });

  test('nothing else is an error that says so', () => {
    expect(() => read({ 'out_spm_counter_collection.csv': samples })).toThrow(/samples of counters over time/);
  });
});
