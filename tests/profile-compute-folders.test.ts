// rocprof-compute folders of any machine: channel counts, header variants and missing passes, against the formulas worked out here.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { analyse, loadProfile } from '../src/profile/index.ts';
import fc from './support/fast-check.ts';

const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-compute-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

/** Counters with per-channel values, and the bytes they stand for, by chip. */
const CHIPS = {
  gfx908: {
    prefix: 'TCC_EA_',
    names: ['RDREQ', 'RDREQ_32B', 'WRREQ', 'WRREQ_64B'],
    read: (c: Record<string, number>) => 32 * c.RDREQ_32B + 64 * (c.RDREQ - c.RDREQ_32B),
  },
  gfx90a: {
    prefix: 'TCC_EA_',
    names: ['RDREQ', 'RDREQ_32B', 'WRREQ', 'WRREQ_64B'],
    read: (c: Record<string, number>) => 32 * c.RDREQ_32B + 64 * (c.RDREQ - c.RDREQ_32B),
  },
  gfx942: {
    prefix: 'TCC_EA0_',
    names: ['RDREQ', 'RDREQ_32B', 'WRREQ', 'WRREQ_64B', 'BUBBLE'],
    read: (c: Record<string, number>) => 128 * c.BUBBLE + 32 * c.RDREQ_32B + 64 * (c.RDREQ - c.BUBBLE - c.RDREQ_32B),
  },
  gfx950: {
    prefix: 'TCC_EA0_',
    names: ['RDREQ_32B', 'RDREQ_64B', 'RDREQ_128B', 'WRREQ', 'WRREQ_64B'],
    read: (c: Record<string, number>) => 32 * c.RDREQ_32B + 64 * c.RDREQ_64B + 128 * c.RDREQ_128B,
  },
} as const;
const counterName = (prefix: string, name: string): string => (name === 'BUBBLE' ? 'TCC_BUBBLE' : prefix + name);

const folderArbitrary = fc.record({
  arch: fc.constantFrom('gfx908', 'gfx90a', 'gfx942', 'gfx950'),
  channels: fc.constantFrom(1, 2, 16, 32, 96, 128),
  rows: fc.integer({ min: 1, max: 4 }),
  /** How each counter is written: one column per channel, a sum, or not at all. */
  forms: fc.array(fc.constantFrom('channels', 'sum', 'both', 'absent'), { minLength: 5, maxLength: 5 }),
  /** The pass (file) of each counter. */
  passes: fc.array(fc.nat(2), { minLength: 5, maxLength: 5 }),
  headers: fc.constantFrom('Title_Case', 'lower', 'UPPER', 'spaced', 'omniperf1'),
  newline: fc.constantFrom('\n', '\r\n'),
  quoted: fc.boolean(),
  reversed: fc.boolean(),
  isPacked: fc.boolean(),
  seed: fc.nat(1000),
});

const HEADERS = {
  Title_Case: (name: string) => name,
  lower: (name: string) => name.toLowerCase(),
  UPPER: (name: string) => name.toUpperCase(),
  spaced: (name: string) => name.replaceAll('_', ' '),
  omniperf1: (name: string) =>
    ({ Dispatch_ID: 'Index', Grid_Size: 'grd', Workgroup_Size: 'wgr', Kernel_Name: 'KernelName' })[name] ?? name,
};
/** sysinfo.csv of today, and of Omniperf 1. */
const MACHINE = 'gpu_model,gpu_arch,cu_per_gpu,simd_per_cu,max_waves_per_cu,max_sclk,max_mclk,num_xcd';
const MACHINE_1 = 'name,gpu_soc,numCU,numSIMD,maxWavesPerCU,sclk,mclk,workload_name';

test('property: bytes and waves of any folder, unknown exactly when a counter is missing', () => {
  let number = 0;
  fc.assert(
    fc.property(folderArbitrary, (f) => {
      const folder = join(temporary, `f${number++}`);
      mkdirSync(folder);
      const chip = CHIPS[f.arch as keyof typeof CHIPS];
      const describe = HEADERS[f.headers as keyof typeof HEADERS];
      const quote = (cell: string | number) => (f.quoted ? `"${cell}"` : String(cell));
      const sums: Record<string, number>[] = Array.from({ length: f.rows }, () => ({}));
      const present = new Set<string>();
      for (const pass of [0, 1, 2]) {
        const columns: [string, (row: number) => string | number][] = [
          [describe('Dispatch_ID'), (row) => row],
          [describe('Grid_Size'), () => 65536],
          [describe('Workgroup_Size'), () => 256],
          ['Wave_Size_1', () => 64],
          [describe('Kernel_Name'), () => 'copy(double*) (.kd)'],
        ];
        if (pass === 0) columns.push(['SQ_WAVES', (row) => 1000 + row]);
        chip.names.forEach((name, i) => {
          const form = f.forms[i];
          if (f.passes[i] !== pass || form === 'absent') return;
          present.add(name);
          const full = counterName(chip.prefix, name);
          // Requests of a size are a part of all requests.
          const one = (row: number, channel: number) => {
            const part = ((f.seed + 31 * row + 7 * channel) % 97) + 1;
            return name === 'RDREQ' || name === 'WRREQ' ? 3 * part : part;
          };
          const total = (row: number) =>
            Array.from({ length: f.channels }, (_, c) => one(row, c)).reduce((a, b) => a + b);
          if (form !== 'sum') {
            for (let c = 0; c < f.channels; c++) columns.push([`${full}[${c}]`, (row) => one(row, c)]);
          }
          if (form !== 'channels') columns.push([`${full}_sum`, (row) => total(row)]);
          for (let row = 0; row < f.rows; row++) sums[row][name] = total(row);
        });
        if (f.reversed) columns.reverse();
        const lines = [
          columns.map(([name]) => quote(name)),
          ...sums.map((_, row) => columns.map(([, cell]) => quote(cell(row)))),
        ];
        const text = lines.map((cells) => cells.join(',') + f.newline).join('');
        const file = join(folder, pass === 0 ? 'pmc_perf.csv' : `pmc_perf_${pass}.csv`);
        if (f.isPacked) writeFileSync(`${file}.gz`, gzipSync(text));
        else writeFileSync(file, text);
      }
      const machine = f.headers === 'omniperf1' ? MACHINE_1 : MACHINE;
      writeFileSync(join(folder, 'sysinfo.csv'), `${machine}${f.newline}X,${f.arch},100,4,32,2000,1200,1${f.newline}`);
      const { recording } = loadProfile([folder]);
      const [kernel] = analyse(recording).kernels;
      expect(kernel.arch).toBe(f.arch);
      expect(kernel.calls).toBe(f.rows);
      const metric = (id: string) => kernel.metrics[id].value;
      const waves = sums.reduce((sum, _, row) => sum + 1000 + row, 0);
      expect(metric('waves')).toEqual({ value: waves });
      const judge = (id: string, needs: readonly string[], formula: (c: Record<string, number>) => number) => {
        const missing = needs.filter((name) => !present.has(name));
        if (missing.length === 0) {
          expect(metric(id)).toEqual({ value: sums.reduce((sum, c) => sum + formula(c), 0) });
          return;
        }
        const why = metric(id);
        expect(why).toMatchObject({ unknown: expect.stringContaining('not collected') });
        for (const name of missing)
          expect(why).toMatchObject({ unknown: expect.stringContaining(counterName(chip.prefix, name)) });
      };
      const reads = chip.names.filter((name) => !name.startsWith('WRREQ'));
      judge('bytes.hbm.read', reads, chip.read);
      judge('bytes.hbm.write', ['WRREQ', 'WRREQ_64B'], (c) => 64 * c.WRREQ_64B + 32 * (c.WRREQ - c.WRREQ_64B));
      rmSync(folder, { recursive: true });
    }),
    { numRuns: 120 },
  );
});
