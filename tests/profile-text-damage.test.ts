// Tables whose text is damaged, packed, or told twice: what is read is right, and a finding says what is not.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { analyse, loadProfile, type ProfileDocument } from '../src/profile/index.ts';
import { writeRocprofCsv } from './profile-fixtures.ts';

const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-text-damage-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));
let made = 0;

const TRACE = '500_kernel_trace.csv';
const COUNTERS = 'pmc_1/501_counter_collection.csv';

/** The profile of a folder of which one file is changed. */
function changed(file: string, change: (text: string) => string | Uint8Array): ProfileDocument {
  const folder = join(temporary, `${made++}`);
  writeRocprofCsv(folder, 6);
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  const after = change(text);
  expect(after).not.toBe(text);
  writeFileSync(path, after);
  return analyse(loadProfile([folder]).recording);
}

const messages = (document: ProfileDocument) => document.findings.map(({ code, message }) => `${code}: ${message}`);

describe('text of a table', () => {
  test('that is not in UTF-8', () => {
    const document = changed(TRACE, (text) => Buffer.from(text.replaceAll('scale', 'sc\u00e9le'), 'latin1'));
    expect(messages(document)).toContainEqual(expect.stringContaining('profile/bad-record: The file is not in UTF-8'));
  });

  test('with quotes that do not close', () => {
    const document = changed(TRACE, (text) => text.replace('\n"', '\n"x"y'));
    expect(messages(document)).toContainEqual(expect.stringContaining('Quotes of some cells do not close'));
  });

  test('with a column twice: the first is read', () => {
    const document = changed(COUNTERS, (text) =>
      text.replace(/^(.*)$/gm, (line, _all, at) =>
        line === '' ? line : `${line},${at === 0 ? '"Counter_Value"' : 7}`,
      ),
    );
    expect(messages(document)).toContainEqual(
      expect.stringContaining('The column Counter_Value is there more than once'),
    );
    const waves = document.kernels.flatMap(({ counters }) => counters.SQ_WAVES ?? []);
    expect(waves.length).toBeGreaterThan(0);
    for (const { sum } of waves) expect(sum).not.toBe(7);
  });

  test('whose counters have too few digits', () => {
    const rounded = /,"SQ_WAVES",([0-9.]+)/g;
    const write = (digits: number) => (text: string) =>
      text.replace(rounded, (_, value) => `,"SQ_WAVES",${(Number(value) + 1e6).toExponential(digits)}`);
    const few = changed(COUNTERS, write(3));
    expect(few.findings.map(({ code }) => code)).toContain('profile/rounded-counter');
    const all = changed(COUNTERS, write(8));
    expect(all.findings.map(({ code }) => code)).not.toContain('profile/rounded-counter');
  });
});

test('a table in a zip archive is a finding', () => {
  const folder = join(temporary, `${made++}`);
  writeRocprofCsv(folder, 6);
  rmSync(join(folder, '500_hip_api_trace.csv'));
  writeFileSync(join(folder, '500_hip_api_trace.csv.zip'), Buffer.from('504b0304140000000800', 'hex'));
  const document = analyse(loadProfile([folder]).recording);
  expect(document.calls).toEqual([]);
  expect(messages(document)).toContainEqual(expect.stringContaining('only gzip (.csv.gz) is read: unpack it'));
});

test('one GPU that two files call differently has each kernel once', () => {
  const folder = join(temporary, `${made++}`);
  writeRocprofCsv(folder, 6);
  const counters = readFileSync(join(folder, COUNTERS), 'utf8');
  rmSync(join(folder, 'pmc_1'), { recursive: true });
  // As ROCm 6.2 writes it; of a process of its own, so that its dispatches are others than those of the trace.
  writeFileSync(join(folder, '777_counter_collection.csv'), counters.replaceAll('"Agent 2"', '2'));
  const { kernels } = analyse(loadProfile([folder]).recording);
  expect(new Set(kernels.map(({ name }) => name)).size).toBe(kernels.length);
});

test('folders of ranks are of processes of their own, and their passes belong to them', () => {
  const folder = join(temporary, `${made++}`);
  for (const rank of [0, 1]) {
    const own = join(folder, `rank_${rank}`);
    mkdirSync(own, { recursive: true });
    writeRocprofCsv(own, 6);
    if (rank === 0) continue;
    for (const file of [TRACE, COUNTERS, '500_hip_api_trace.csv', '500_memory_copy_trace.csv']) {
      const text = readFileSync(join(own, file), 'utf8');
      writeFileSync(join(own, file), text.replaceAll('1550000', '1550003').replaceAll('1549999', '1550002'));
    }
  }
  const one = analyse(loadProfile([join(folder, 'rank_0')]).recording);
  const both = analyse(loadProfile([folder]).recording);
  expect(both.dispatches.total).toBe(2 * one.dispatches.total);
  expect(both.calls[0].calls).toBe(2 * one.calls[0].calls);
  for (const kernel of one.kernels) {
    const same = both.kernels.find(({ name }) => name === kernel.name);
    expect(same?.counters.SQ_WAVES?.sum).toBe(
      kernel.counters.SQ_WAVES === undefined ? undefined : 2 * kernel.counters.SQ_WAVES.sum,
    );
  }
});
