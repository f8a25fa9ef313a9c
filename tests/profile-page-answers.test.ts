// What the document and its page say first: changes in the order of what they are worth, tracks and comparisons of all that was recorded.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { run as runKernel } from '../src/cli/run.ts';
import { diffProfiles, type ProfileDocument } from '../src/profile/index.ts';
import { comparisonPage, profilePage } from '../src/report/index.ts';
import { findChromium, Page } from './support/chromium.ts';
import { kernelSource } from './support/kernel-source.ts';
import { profileFolders } from './support/profile-folder.ts';
import { AGENTS, countersOf, MEMORY, run, traceOf } from './support/run-files.ts';

const { read } = profileFolders();

test('what changes are worth is in order, also where the smaller one is surer', () => {
  const [small, copy] = [run(1)[0], run(1)[0]];
  const dispatches = Array.from({ length: 40 }, (_, i) => {
    const start = small.start + 6000 * i;
    const own = { id: i + 1, start, end: start + (i % 2 === 0 ? 5000 : 2500) };
    // 80% of the HBM bandwidth, and launches that leave most CUs without a workgroup.
    const requests = (0.8 * 5.3e12 * 5e-6) / 64;
    if (i % 2 === 0) {
      const counters = {
        ...copy.counters,
        TCC_EA0_RDREQ_sum: requests,
        TCC_EA0_WRREQ_sum: 0,
        TCC_EA0_WRREQ_64B_sum: 0,
      };
      return { ...copy, ...own, kernel: 'copy', grid: 1 << 20, counters: { ...counters, SQ_WAVES: 1 << 14 } };
    }
    const counters = Object.fromEntries(Object.keys(small.counters).map((name) => [name, 0]));
    return {
      ...small,
      ...own,
      kernel: 'small',
      grid: 64 * 256,
      counters: { ...counters, SQ_WAVES: 256, GRBM_GUI_ACTIVE: 5000 },
    };
  });
  const { changes } = read({
    '500_agent_info.csv': AGENTS,
    '500_kernel_trace.csv': traceOf(dispatches),
    '500_counter_collection.csv': countersOf(dispatches),
  }).answer;
  expect(changes.length).toBeGreaterThan(1);
  const worth = changes.map(({ worthNs }) => ('value' in worthNs ? worthNs.value : -1));
  expect(worth).toEqual([...worth].sort((a, b) => b - a));
  const weights = changes.map(({ confidence }, i) => confidence * (worth[i] ?? 0));
  expect(weights).not.toEqual([...weights].sort((a, b) => b - a));
});

test('counter tracks have the dispatches with counters that are not among the longest, too', () => {
  // 2,100 long dispatches without counters hide the short ones from what is shown one by one.
  const long = run(2100).map((one) => ({ ...one, end: one.end + 1e6, start: one.start }));
  const short = run(9, { ns: 1e12 }).map((one) => ({ ...one, id: one.id + 5000 }));
  const document = read({
    '500_agent_info.csv': AGENTS,
    '500_kernel_trace.csv': traceOf([...long, ...short]),
    '500_counter_collection.csv': countersOf(short, MEMORY),
  });
  expect(document.dispatches.shown.some(({ id }) => id > 5000)).toBe(false);
  expect(document.dispatches.tracks.find(({ name }) => name === 'HBM bandwidth')?.points).toHaveLength(9);
});

test('a comparison has the kernels of each GPU', () => {
  const onTwo = (ns: number): ProfileDocument => {
    const agents = AGENTS + AGENTS.split('\n')[2].replaceAll('2,2,', '3,3,').concat('\n');
    const second = run(9, { ns: 5e6 }).map((one) => ({ ...one, id: one.id + 9, end: one.end + ns }));
    const text = traceOf([...run(9), ...second], {
      cell: (column, value, { id }) => (column === 'Agent_Id' && id > 9 ? 'Agent 3' : value),
    });
    return read({ '500_agent_info.csv': agents, '500_kernel_trace.csv': text });
  };
  const { kernels } = diffProfiles(onTwo(0), onTwo(500));
  expect(kernels).toHaveLength(6);
  const changed = kernels.filter(({ changeNs }) => 'value' in changeNs && changeNs.value !== 0);
  expect(changed.map(({ name, changeNs }) => [name.replace(/.* on /, ''), changeNs])).toEqual(
    Array(3).fill(['Agent 3', { value: 1500 }]),
  );
});

const chromium = findChromium();
describe.skipIf(chromium === undefined)('in Chromium', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-answers-'));
  let page: Page;
  beforeAll(async () => {
    page = await Page.start(chromium ?? '');
  });
  afterAll(async () => {
    await page?.close();
    rmSync(temporary, { recursive: true, force: true });
  });
  const open = (url: string) => page.open(url, "document.documentElement.dataset.ready === 'true'");
  const show = (document: ProfileDocument): Promise<void> => {
    const file = join(temporary, 'page.html');
    writeFileSync(file, profilePage(document));
    return open(pathToFileURL(file).href);
  };
  const text = (selector: string) => page.evaluate(`document.querySelector('${selector}')?.textContent ?? ''`);
  const count = (selector: string) => page.evaluate(`document.querySelectorAll('${selector}').length`);

  test('a simulated kernel without a clock has no tiles of what is unknown, and no heat where all lines cost the same', async () => {
    const object = join(temporary, 'k.co');
    writeFileSync(object, assembleAndLink(kernelSource({ code: 's_nop 0\nv_mov_b32_e32 v1, 0' })));
    const folder = join(temporary, 'simulated');
    await runKernel([object, '--kernel', 'k', '--grid', '4', '--block', '64', '--arg', 'f32[16]', '--report', folder]);
    await open(pathToFileURL(join(folder, 'report.html')).href);
    expect(await count('#traces .tile')).toBe(0);
    expect(await text('#traces')).toContain('Unknown: stalled, idle, issue utilisation, load to use (');
    expect(await count('#traces .listing .isa')).toBeGreaterThan(1);
    expect(await count('#traces .listing .isa[style]')).toBe(0);
  });

  test('faults of the input are named at the top, and what could not be judged', async () => {
    const files = { '500_agent_info.csv': AGENTS, '500_kernel_trace.csv': traceOf(run(9)) };
    await show(read(files));
    expect(await text('#head')).not.toContain('The input has');
    expect(await text('#answer')).toContain('What limits the 3 kernels with 100.0% of the time is not known');
    await show(read({ ...files, '501_counter_collection.csv': 'Counter_Name,Counter_Value\n' }));
    expect(await text('#head')).toMatch(
      /The input has (?:a fault|\d faults) that may change what is shown: see Findings\./,
    );
  });

  test('arrows are drawn where there are few of them', async () => {
    const gaps = (n: number) =>
      run(n).map((one, i) => ({ ...one, start: one.start + 3e4 * i, end: one.end + 3e4 * i }));
    await show(read({ '500_kernel_trace.csv': traceOf(gaps(20)) }));
    expect(await count('#timeline .arrow')).toBe(1);
    await show(read({ '500_kernel_trace.csv': traceOf(gaps(75)) }));
    expect(await count('#timeline .arrow')).toBe(0);
    expect(await text('#timeline .note:not([hidden]):last-child')).toContain('Zoom in to see the arrows');
  });

  test('long names and paths wrap in a narrow window; drawings that scroll there can be reached', async () => {
    const name = `kernel_${'a_long_name_'.repeat(12)}`;
    const object = join(temporary, 'long.co');
    const code = kernelSource({ code: 's_nop 0\nv_mov_b32_e32 v1, 0' }).replace(/\bk\b/g, name);
    writeFileSync(object, assembleAndLink(code));
    const folder = join(temporary, 'long');
    await runKernel([object, '--grid', '4', '--block', '64', '--arg', 'f32[16]', '--report', folder, '--timing']);
    const one = read({ '500_kernel_trace.csv': traceOf(run(9)) });
    const other = read({
      '500_kernel_trace.csv': traceOf(run(9).map((dispatch) => ({ ...dispatch, end: dispatch.end + 9 }))),
    });
    const compared = join(temporary, 'compared.html');
    writeFileSync(compared, comparisonPage(diffProfiles(one, other), [`/home/${'folder_'.repeat(20)}`, 'after']));
    await page.resize(390, 900);
    for (const file of [join(folder, 'report.html'), compared]) {
      await open(pathToFileURL(file).href);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      const wide =
        "[...document.querySelectorAll('.chart, .scroll')].filter((one) => one.scrollWidth > one.clientWidth + 1)";
      const unreached = `${wide}.filter((one) => one.tabIndex < 0 && one.querySelector('[tabindex="0"], a, button') === null).length`;
      expect(await page.evaluate(unreached)).toBe(0);
    }
    await page.resize(1280, 900);
  });
});
