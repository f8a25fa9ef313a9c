// Counters that rocprof-compute collected in turns, another set for each launch of a kernel.
import { describe, expect, test } from 'vitest';
import { codes, profileFolders } from './support/profile-folder.ts';

const { read } = profileFolders();

const MACHINE =
  'command,gpu_model,gpu_arch,cu_per_gpu,simd_per_cu,num_xcd,max_waves_per_cu,max_sclk,max_mclk,total_l2_chan,num_hbm_channels\n' +
  './copy,MI210,gfx90a,104,4,1,32,1700,1600,32,32\n';
const SETS: readonly (readonly string[])[] = [
  ['SQ_WAVES', 'SQ_WAVE_CYCLES'],
  ['SQ_WAIT_ANY'],
  ['TCC_EA_RDREQ_sum', 'TCC_EA_RDREQ_32B_sum'],
  ['TCC_EA_WRREQ_sum', 'TCC_EA_WRREQ_64B_sum'],
];
const NAMES = ['GRBM_GUI_ACTIVE', ...SETS.flat()];
/** What launch `i` of a size does of each counter. */
const VALUES: Readonly<Record<string, (i: number) => number>> = {
  GRBM_GUI_ACTIVE: (i) => 34000 + i,
  SQ_WAVES: () => 1024,
  SQ_WAVE_CYCLES: (i) => 2000000 + 100 * i,
  SQ_WAIT_ANY: (i) => 1000000 + 50 * i,
  TCC_EA_RDREQ_sum: () => 65536,
  TCC_EA_RDREQ_32B_sum: () => 0,
  TCC_EA_WRREQ_sum: () => 32768,
  TCC_EA_WRREQ_64B_sum: () => 32768,
};

interface Launch {
  readonly kernel?: string;
  readonly grid?: number;
  readonly has: (name: string, i: number) => boolean;
}
const inTurns = (sets: readonly (readonly string[])[]) => (name: string, i: number) =>
  name === 'GRBM_GUI_ACTIVE' || sets[i % sets.length].includes(name);

function table(n: number, { kernel = 'copy', grid = 65536, has }: Launch, first = 0): string[] {
  return Array.from({ length: n }, (_, i) => {
    const start = 1_000_000 + 100_000 * (first + i);
    const cells = NAMES.map((name) => (has(name, i) ? VALUES[name](i) : ''));
    return [first + i, kernel, 0, grid, 256, 0, 0, 8, 0, 16, start, start + 20_000, ...cells].join();
  });
}
const HEADER = `Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Start_Timestamp,End_Timestamp,${NAMES.join()}`;
const folder = (rows: readonly string[], config?: string) =>
  read({
    'sysinfo.csv': MACHINE,
    'pmc_perf.csv': `${[HEADER, ...rows].join('\n')}\n`,
    ...(config === undefined ? {} : { 'profiling_config.yaml': config }),
  });
const whole = { has: () => true };
const turns = { has: inTurns(SETS) };
const metric = (document: ReturnType<typeof folder>, id: string, kernel = 0) => document.kernels[kernel].metrics[id];

describe('sets of counters in turns', () => {
  test('are those of each launch of a turn, which is said', () => {
    const document = folder(table(8, turns));
    const sound = folder(table(8, whole));
    expect(codes(document)).toEqual(['profile/counters-in-turns']);
    expect(document.findings[0].message).toContain('4 sets in 8 launches');
    for (const id of ['bytes.hbm.read', 'bytes.hbm.write', 'waves'])
      expect(metric(document, id)).toEqual(metric(sound, id));
    expect(document.kernels[0].roofline.points[0]).toEqual(sound.kernels[0].roofline.points[0]);
    // Waits of launches 1 and 5, cycles of launches 0 and 4.
    expect(metric(document, 'wait.any').value).toEqual({ value: (2_000_000 + 300) / (4_000_000 + 400) });
    expect(metric(document, 'wait.any').dispatches).toBe(8);
  });

  test('the launches behind the last whole turn are not filled in', () => {
    const document = folder(table(10, turns));
    expect(codes(document)).toEqual(['profile/counters-in-turns', 'profile/uneven-counters']);
    expect(metric(document, 'bytes.hbm.read').dispatches).toBe(8);
    expect(metric(document, 'waves').dispatches).toBe(9);
  });

  test('are told for each kernel, and apart for each size', () => {
    const rows = [
      ...table(4, turns),
      ...table(4, { ...turns, grid: 131072 }, 4),
      ...table(2, { ...turns, kernel: 'other' }, 8),
    ];
    const document = folder(rows);
    const [copy] = document.kernels;
    expect(document.findings.map(({ code, kernel }) => [code, kernel])).toContainEqual([
      'profile/counters-in-turns',
      'copy',
    ]);
    expect(copy.metrics['bytes.hbm.read'].dispatches).toBe(8);
    // Two launches of four sets: nothing is known together.
    expect('unknown' in document.kernels[1].metrics['bytes.hbm.read'].value).toBe(true);
  });

  test.each([
    ['kernel_launch_params', true],
    ['kernel', true],
    ['null', false],
    ["''", false],
  ])('of two are turns where profiling_config.yaml says %s', (value, isTurn) => {
    const two = {
      has: inTurns([
        [...SETS[0], ...SETS[1]],
        [...SETS[2], ...SETS[3]],
      ]),
    };
    const document = folder(table(6, two), `app_cmd: ./copy\niteration_multiplexing: ${value}\nversion: 3\n`);
    expect(codes(document)).toEqual([isTurn ? 'profile/counters-in-turns' : 'profile/uneven-counters']);
    expect(metric(document, 'bytes.hbm.read').dispatches).toBe(isTurn ? 6 : 3);
  });
});

describe('no turns', () => {
  test.each<[string, Launch]>([
    ['some launches without a set', { has: (name, i) => i >= 3 || !SETS[2].includes(name) }],
    ['another cell lost in each of many', { has: (name, i) => name !== NAMES[1 + (i % 7)] }],
    ['two sets by turns', { has: (name, i) => name === 'GRBM_GUI_ACTIVE' || (i % 2 === 0) === SETS[0].includes(name) }],
    ['a turn that is broken', { has: (name, i) => inTurns(SETS)(name, i === 6 ? 5 : i) }],
  ])('%s', (_, launch) => {
    const document = folder(table(8, launch));
    expect(codes(document)).toEqual(['profile/uneven-counters']);
    expect(metric(document, 'bytes.hbm.read').dispatches).toBeLessThan(8);
  });
});
