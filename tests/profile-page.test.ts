// The report page in headless Chromium: complete, safe with hostile names, usable by keyboard, readable in light and dark.
// The screenshots are kept in .wavesmith/screenshots, or where `WAVESMITH_SCREENSHOTS=DIR` says.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  analyse,
  analyseAll,
  diffProfiles,
  loadProfile,
  type Recording,
  recordSimulated,
} from '../src/profile/index.ts';
import { comparisonPage, profilePage } from '../src/report/index.ts';
import {
  kernelTraceCsv,
  sampleCodeObject,
  sampleSqtt,
  writeAttFolder,
  writeComputeFolder,
  writeRocprofCsv,
} from './profile-fixtures.ts';
import { findChromium, Page } from './support/chromium.ts';

const chromium = findChromium();
const pageOf = (recording: Recording): string => {
  const { document, work } = analyseAll(recording);
  return profilePage(document, work);
};
const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-page-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

/** Deque's accessibility checks, as text for the page. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const EVIL = [
  '</script><script>window.pwned = 1</script>',
  '<img src=x onerror="window.pwned = 2">',
  '"><svg onload=window.pwned=3>',
  '__proto__',
  'constructor',
];

/** A recording with everything the page can show, and names that try to break out of it. */
function makePage(): string {
  const folder = join(temporary, 'data');
  writeRocprofCsv(folder, 60);
  writeAttFolder(join(folder, 'ui_output_agent_1_dispatch_1'), 13);
  writeFileSync(
    join(folder, 'pc_sampling.csv'),
    '"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id"\n1,255,1,"s_waitcnt vmcnt(0)","/src/app.hip:12",1\n',
  );
  writeFileSync(join(folder, 'se1.att'), sampleSqtt(0x10000, 4, 3, 5));
  writeFileSync(join(folder, 'code.out'), sampleCodeObject());
  const [header, row] = kernelTraceCsv(1).trim().split('\n');
  const rows = EVIL.map((name, i) =>
    row
      .replace(/"void scale[^"]*"/, `"${name.replaceAll('"', '""')}"`)
      .replaceAll(',15500000', `,15500001${i}`.slice(0, 9)),
  );
  writeFileSync(join(folder, 'evil_kernel_trace.csv'), `${[header, ...rows].join('\n')}\n`);
  const { recording } = loadProfile([folder]);
  const html = pageOf(recording);
  const file = join(temporary, 'report.html');
  writeFileSync(file, html);
  return file;
}

const file = makePage();

/** A page of a program on the virtual GPU: two queues, a wait, FLOPs, source lines, hostile names. */
function makeSimulatedPage(isTimed = false): string {
  const flops = ['ADD', 'MUL', 'TRANS', 'FMA'].flatMap((kind) =>
    ['F16', 'F32', 'F64'].map(
      (type) => [`SQ_INSTS_VALU_${kind}_${type}`, { value: type === 'F32' ? 500 : 0 }] as const,
    ),
  );
  const counters = {
    ...Object.fromEntries(flops),
    SQ_WAVES: { value: 16 },
    SQ_INSTS: { value: 4000 },
    SQ_INSTS_MFMA: { value: 0 },
  };
  const kernels = ['scale', EVIL[0], 'reduce'].map((name, k) => ({
    name,
    lines: new Map(
      ['s_load_dwordx2 s[4:5], s[0:1], 0x0', 'v_fma_f32 v4, v2, v2, v2', 's_endpgm'].map((text, i) => [
        i,
        {
          address: 8 * i,
          text,
          source: `/src/kernel.hip:${10 + i}`,
          hits: (k + 1) * (i === 1 ? 500 : 16),
          lanes: 40 * (k + 1) * (i === 1 ? 500 : 16),
        },
      ]),
    ),
  }));
  const dispatches = Array.from({ length: 12 }, (_, i) => ({
    kernel: kernels[i % 3],
    queue: 1 + (i % 2),
    barrier: true,
    dependencies: i > 3 && i % 4 === 0 ? [i - 1] : [],
    workgroup: [256, 1, 1] as const,
    grid: [1024, 1, 1] as const,
    lds: 1024,
    scratch: 0,
    vgprs: 32,
    agprs: 0,
    sgprs: 32,
    instructions: 3000 + 500 * (i % 5),
    wavefronts: 16,
    counters,
    flops: { F16: { value: 0 }, F32: { value: 150_000 }, F64: { value: 0 } },
    bytes: {
      global: { load: 65536, store: 4096 * (1 + (i % 3)), atomic: 0 },
      lds: { load: 8192, store: 8192, atomic: 0 },
    },
    formattedAccesses: 0,
    ldsBanks: { phases: 64, conflictCycles: 32, notModelled: 0 },
    valu: 2000,
    valuLanes: 90_000,
    hostStart: i,
    hostEnd: i + 0.5,
    ...(isTimed ? { modelled: modelled(i) } : {}),
  }));
  const device = 'AMD Instinct MI300X (virtual)';
  const program = { program: './app', target: 'gfx942', device, computeUnits: 304, dispatches, failures: [] };
  const page = join(temporary, isTimed ? 'modelled.html' : 'simulated.html');
  const copies = [{ kind: 'host', bytes: 4096, startNs: 900, endNs: 2900 }];
  const timed = { ...program, copies, chip: { name: 'mi300x', clockMhz: 2100, xccs: 8 } };
  writeFileSync(page, pageOf(recordSimulated(isTimed ? timed : program)));
  return page;
}

/** What a timing model says of the dispatch of a number: 2 µs, 3 µs after the one before. */
const modelled = (i: number) => ({
  startNs: 3000 + 3000 * i,
  endNs: 5000 + 3000 * i,
  counters: {},
  report: { chip: 'mi300x', class: 'latency', limiter: 'latency', converged: true, accuracy: undefined },
});

const MANY = 20_000;
/** A page of twenty thousand dispatches of 4 µs, 5 µs apart, of which few are drawn from far; markers and copies beside them. */
function makeLongPage(): string {
  const folder = join(temporary, 'long');
  writeRocprofCsv(folder, MANY);
  const { recording } = loadProfile([folder]);
  const page = join(temporary, 'long.html');
  writeFileSync(page, pageOf(recording));
  return page;
}

describe('the file', () => {
  test('is one page without outside references, and names cannot leave the data', () => {
    const html = profilePage({ kernels: [{ name: `${EVIL.join('')}\u2028<!--` }] });
    expect(html.match(/<script/g)).toHaveLength(3);
    expect(html.match(/<\/script/g)).toHaveLength(3);
    expect(html).not.toContain('<img');
    expect(html).not.toMatch(/(?:src|href)="(?!#)/);
    expect(html).toContain("default-src 'none'");
    expect(html).not.toContain("script-src 'unsafe-inline'");
    const data = /<script type="application\/json" id="data">(.*)<\/script>/.exec(html)?.[1] ?? '';
    expect(JSON.parse(data)).toEqual({ kernels: [{ name: `${EVIL.join('')}\u2028<!--` }] });
  });
});

describe.skipIf(chromium === undefined)('in Chromium', () => {
  let page: Page;
  beforeAll(async () => {
    page = await Page.start(chromium ?? '');
    await page.open(pathToFileURL(file).href, "document.documentElement.dataset.ready === 'true'");
  });
  afterAll(() => page?.close());

  const keep = (name: string, png: Buffer) => {
    const folder = process.env.WAVESMITH_SCREENSHOTS ?? join('.wavesmith', 'screenshots');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.png`), png);
  };
  const text = (selector: string) =>
    page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ''`);
  const count = (selector: string) => page.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`);

  test('hostile kernel names are text, nothing ran, nothing was loaded', async () => {
    expect(await page.evaluate('window.pwned')).toBeUndefined();
    expect(await count('main script, main img')).toBe(0);
    const names = await page.evaluate(
      "[...document.querySelectorAll('#kernels tbody td.name a')].map((a) => a.textContent)",
    );
    for (const name of EVIL) expect(names).toContain(name);
    expect(page.requests.filter((url) => url !== pathToFileURL(file).href)).toEqual([]);
    expect(page.problems).toEqual([]);
  });

  test('every section has content', async () => {
    expect(await count('#roofline svg .roof')).toBeGreaterThan(5);
    expect(await count('#roofline svg .dot')).toBeGreaterThan(0);
    expect(await count('#timeline svg rect')).toBeGreaterThan(60);
    expect(await count('#timeline svg rect.critical')).toBeGreaterThan(0);
    expect(await count('#kernels tbody tr')).toBe(8);
    expect(await count('#traces .listing tbody tr')).toBeGreaterThan(5);
    await page.evaluate(
      "document.querySelector('#trace-choice').value = '0'; document.querySelector('#trace-choice').dispatchEvent(new Event('change'))",
    );
    expect(await count('#traces a[href="file:///src/app.hip#L12"]')).toBeGreaterThan(0);
    expect(await count('#findings .scroll')).toBeGreaterThan(0);
  });

  test('the timeline shows all work from far as shares and from near one by one, with API calls', async () => {
    await page.open(pathToFileURL(makeLongPage()).href, "document.documentElement.dataset.ready === 'true'");
    const pieces = () =>
      page.evaluate("Number(document.querySelector('#timeline svg').dataset.pieces)") as Promise<number>;
    const press = (key: string) =>
      page.evaluate(
        `document.querySelector('#timeline svg').dispatchEvent(new KeyboardEvent('keydown', { key: ${JSON.stringify(key)} }))`,
      );
    expect(await pieces()).toBe(-1);
    expect(await count('#timeline svg .density')).toBeGreaterThan(0);
    // One dispatch after the other: from far, too, the critical path reaches to the end.
    const widths = '[...document.querySelectorAll("#timeline svg .edge-critical")].map((edge) => edge.getBBox().width)';
    expect(Math.max(...((await page.evaluate(widths)) as number[]))).toBeGreaterThan(800);
    const look = () => page.evaluate("document.querySelector('#timeline').scrollIntoView()");
    await look();
    keep('timeline-far', await page.screenshot());
    for (let i = 0; i < 40 && (await pieces()) < 0; i++) await press('+');
    const near = await pieces();
    expect(near).toBeGreaterThan(0);
    expect(await count('#timeline svg rect')).toBe(near);
    // However near, no two marks of the time are written alike.
    const marks = (await page.evaluate(
      "[...document.querySelectorAll('#timeline svg text')].map((one) => one.textContent).filter((one) => / (s|ms|µs|ns)$/.test(one))",
    )) as string[];
    expect(marks.length).toBeGreaterThan(2);
    expect(new Set(marks).size).toBe(marks.length);
    // As near as it goes, one dispatch fills the window, or nothing does.
    for (let i = 0; i < 40; i++) await press('+');
    expect(await pieces()).toBeLessThan(4);
    for (let i = 0; i < 8; i++) await press('-');
    expect(await pieces()).toBeGreaterThan(1);
    await look();
    keep('timeline-near', await page.screenshot());
    // One dispatch after the other: all are on the critical path.
    expect(await count('#timeline svg rect.dispatch:not(.critical)')).toBe(0);
    const lanes = (await page.evaluate(
      "[...document.querySelectorAll('#timeline svg text')].map((text) => text.textContent)",
    )) as string[];
    expect(lanes).toContain('HIP_RUNTIME_API');
    await page.open(pathToFileURL(file).href, "document.documentElement.dataset.ready === 'true'");
  });

  test('kernels without FLOPs, or with unknown ones, stand below the roofs of memory', async () => {
    const folder = join(temporary, 'copies');
    writeComputeFolder(folder);
    const plain = readFileSync(join(folder, 'pmc_perf.csv'), 'utf8');
    writeFileSync(
      join(folder, 'pmc_perf.csv'),
      plain.replace('8.1097E+14,8.1097E+14', '810970000000000,810970000010000'),
    );
    const copies = join(temporary, 'copies.html');
    writeFileSync(copies, pageOf(loadProfile([folder]).recording));
    await page.open(pathToFileURL(copies).href, "document.documentElement.dataset.ready === 'true'");
    const marks = (await page.evaluate(
      "[...document.querySelectorAll('#roofline path.dot')].map((mark) => mark.getAttribute('aria-label'))",
    )) as string[];
    expect(marks).toHaveLength(1);
    expect(marks[0]).toMatch(/^copy.*\nHBM: \d+ GB\/s, \d.*% of the HBM peak; its FLOPs are unknown \(not collected/);
    expect(await text('#roofline')).not.toContain('Not on the plot');
    expect(await text('#roofline svg')).not.toMatch(/\d (k|M)(?!\w)/);
    keep('roofline-copy', await page.screenshot());
    await page.open(pathToFileURL(file).href, "document.documentElement.dataset.ready === 'true'");
  });

  test('counters of dispatches are tracks below the lanes, with their unit', async () => {
    const steps = await count('#timeline svg .track');
    expect(steps).toBeGreaterThan(2);
    const labels = (await page.evaluate(
      "[...document.querySelectorAll('#timeline svg text')].map((text) => text.textContent)",
    )) as string[];
    expect(labels).toContain('HBM bandwidth');
    expect(labels.filter((label) => /^to .* [GT]B\/s$/.test(label))).toHaveLength(1);
    await page.evaluate("document.querySelector('#timeline').scrollIntoView()");
    keep('timeline-tracks', await page.screenshot());
    await page.evaluate('scrollTo(0, 0)');
  });

  test('the kernel table sorts and searches', async () => {
    const calls = () =>
      page.evaluate(
        "[...document.querySelectorAll('#kernels tbody tr')].map((tr) => Number(tr.cells[1].textContent))",
      ) as Promise<number[]>;
    const click = () => page.evaluate("document.querySelectorAll('#kernels th button')[1].click()");
    await click();
    const down = await calls();
    expect(down).toEqual([...down].sort((a, b) => b - a));
    expect(await page.evaluate("document.querySelectorAll('#kernels th')[1].getAttribute('aria-sort')")).toBe(
      'descending',
    );
    await click();
    expect(await calls()).toEqual([...down].sort((a, b) => a - b));
    const search = (value: string) =>
      page.evaluate(
        `(() => { const s = document.querySelector('#kernel-search'); s.value = ${JSON.stringify(value)}; s.dispatchEvent(new Event('input')); })()`,
      );
    await search('REDUCE');
    expect(await count('#kernels tbody tr')).toBe(1);
    await search('');
    expect(await count('#kernels tbody tr')).toBe(8);
  });

  test('by keyboard: skip link, tooltip on focus, a kernel opens with Enter and closes again', async () => {
    await page.evaluate('document.activeElement?.blur(); scrollTo(0, 0)');
    await page.press('Tab');
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to the content');
    await page.evaluate("document.querySelector('#roofline .dot').focus()");
    expect(await page.evaluate("document.querySelector('#tooltip').hidden")).toBe(false);
    expect(await text('#tooltip')).toMatch(/FLOP\/byte/);
    await page.press('Enter');
    await page.open(`${pathToFileURL(file).href}#kernel-0`, "document.querySelector('#kernel') !== null");
    expect(await page.evaluate("document.querySelector('#all').hidden")).toBe(true);
    expect(await page.evaluate('document.activeElement?.id')).toBe('kernel');
    keep('kernel-light', await page.screenshot());
    await page.press('Tab');
    await page.press('Enter');
    await page.open(`${pathToFileURL(file).href}#kernels`, "document.querySelector('#all').hidden === false");
    const before = await page.evaluate("document.querySelector('#timeline svg.timeline').innerHTML.length");
    await page.evaluate("document.querySelector('#timeline svg.timeline').focus()");
    await page.press('+');
    await page.press('+');
    expect(await page.evaluate("document.querySelector('#timeline svg.timeline').innerHTML.length")).not.toBe(before);
    await page.press('0');
    expect(await page.evaluate("document.querySelector('#timeline svg.timeline').innerHTML.length")).toBe(before);
  });

  test('a point per dispatch when asked, by keyboard', async () => {
    expect(await count('#roofline circle.one')).toBe(0);
    await page.evaluate("document.querySelector('#each-dispatch').focus()");
    await page.press(' ');
    const points = await count('#roofline circle.one');
    expect(points).toBeGreaterThan(0);
    const label = (await text('label[for=each-dispatch]')) as string;
    expect(label).toBe(`Each dispatch (${points} points)`);
    await page.evaluate("document.querySelector('#roofline circle.one').dispatchEvent(new MouseEvent('mousemove'))");
    expect(await text('#tooltip')).toMatch(/dispatch \d+\n.*FLOP\/byte/);
    await page.press('Escape');
    expect(await page.evaluate("document.querySelector('#tooltip').hidden")).toBe(true);
    keep('each-dispatch', await page.screenshot());
    await page.press(' ');
    expect(await count('#roofline circle.one')).toBe(0);
  });

  test('the page of a kernel has its instructions with heat, its source lines and its dispatches', async () => {
    const id = await page.evaluate(
      "Number([...document.querySelectorAll('#kernels tbody td.name a')].find((a) => a.textContent.startsWith('void scale')).getAttribute('href').slice(8))",
    );
    await page.open(`${pathToFileURL(file).href}#kernel-${id}`, "document.querySelector('#kernel') !== null");
    expect(await count('#kernel .listing tbody tr')).toBeGreaterThan(3);
    expect(await count('#kernel .listing .isa[style*="--heat"]')).toBeGreaterThan(0);
    expect(await count('#kernel a[href="file:///src/app.hip#L12"]')).toBeGreaterThan(1);
    const dispatches = await page.evaluate(
      "[...document.querySelectorAll('#kernel caption')].find((c) => c.textContent.startsWith('Dispatches')).parentElement.tBodies[0].rows.length",
    );
    expect(dispatches).toBe(20);
    keep('kernel-code', await page.screenshot());
    await page.open(`${pathToFileURL(file).href}#kernels`, "document.querySelector('#all').hidden === false");
    expect(page.problems).toEqual([]);
  });

  test('everything that can be clicked can be reached, has a name, and images of data have one too', async () => {
    const nameless = await page.evaluate(
      `[...document.querySelectorAll('button, a, select, input, [role=button], [role=img], [role=region]')].filter((e) => {
        const label = e.id === '' ? null : document.querySelector('label[for="' + e.id + '"]');
        return (e.getAttribute('aria-label') ?? label?.textContent ?? e.textContent ?? '').trim() === '';
      }).length`,
    );
    expect(nameless).toBe(0);
    expect(await count('[role=button]:not([tabindex])')).toBe(0);
  });

  test.each(['light', 'dark'] as const)('%s: text stands out from its background', async (scheme) => {
    await page.scheme(scheme);
    const ratios = await page.evaluate(`(() => {
      const rgb = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
      const light = (c) => { const [r, g, b] = rgb(c).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const back = (e) => { for (let at = e; at; at = at.parentElement) { const c = getComputedStyle(at).backgroundColor; if (!/, 0\\)$/.test(c)) return c; } return 'rgb(255,255,255)'; };
      return ['body', '.note', 'a', 'code', '.tile span', 'button', '.unknown', 'th'].flatMap((s) => [...document.querySelectorAll(s)].slice(0, 3)).map((e) => {
        const [a, b] = [light(getComputedStyle(e).color), light(back(e))].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05);
      });
    })()`);
    expect(Math.min(...(ratios as number[]))).toBeGreaterThanOrEqual(4.5);
    await page.evaluate('scrollTo(0, 0)');
    const png = await page.screenshot();
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect(png.length).toBeGreaterThan(20_000);
    keep(`report-${scheme}`, png);
    const dark = await page.evaluate("getComputedStyle(document.body).backgroundColor === 'rgb(13, 17, 23)'");
    expect(dark).toBe(scheme === 'dark');
    await page.evaluate("document.querySelector('#theme').click()");
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor === 'rgb(13, 17, 23)'")).toBe(
      scheme !== 'dark',
    );
    await page.evaluate('delete document.documentElement.dataset.theme');
  });

  test.each([
    ['light', '#answer'],
    ['dark', '#answer'],
    ['light', '#kernel-0'],
    ['dark', '#kernel-0'],
  ] as const)('axe finds nothing against WCAG 2.1 AA: %s, %s', async (scheme, place) => {
    await page.scheme(scheme);
    await page.evaluate(`location.hash = '${place}'`);
    await page.evaluate(AXE);
    const violations = await page.evaluate(
      `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }).then((result) =>
        result.violations.map((v) => v.id + ' ' + v.nodes.length + ': ' + v.nodes[0].target + ' ' + v.nodes[0].failureSummary))`,
    );
    expect(violations).toEqual([]);
    // The check itself: a picture without a text is found.
    const bad = `(() => { const picture = document.createElement('img'); document.body.append(picture);
      return axe.run(picture).then((result) => { picture.remove(); return result.violations.map((v) => v.id); }); })()`;
    expect(await page.evaluate(bad)).toContain('image-alt');
    await page.evaluate("location.hash = ''");
  });

  test('the instructions of a wave by keyboard: each shows its line, and a line shows its execution', async () => {
    await page.evaluate(
      "(() => { const c = document.querySelector('#trace-choice'); c.value = [...c.options].find((o) => o.textContent.includes('att)') || o.textContent.includes('sqtt)')).value; c.dispatchEvent(new Event('change')); })()",
    );
    const root = "document.querySelector('.wave-instructions')";
    expect(await count('.wave-instructions rect')).toBeGreaterThan(3);
    const selected = () =>
      page.evaluate("document.querySelector('tr.selected')?.getAttribute('data-line')") as Promise<string>;
    await page.evaluate(`${root}.focus()`);
    const first = await selected();
    await page.press('ArrowRight');
    expect(await selected()).not.toBe(first);
    expect(await text('[aria-live]')).toMatch(/^2 of \d+: .*stalled \d+, executing \d+/);
    await page.evaluate("document.querySelectorAll('#traces tr[data-line]')[0].click()");
    expect(await selected()).toBe('0');
    await page.evaluate("document.querySelector('.wave-instructions').scrollIntoView()");
    keep('wave-instructions', await page.screenshot());
  });

  test('with modelled times the timeline has them, copies too, and lanes are in the order of their numbers', async () => {
    await page.open(pathToFileURL(makeSimulatedPage(true)).href, "document.documentElement.dataset.ready === 'true'");
    expect(await text('#h-timeline')).toBe('Critical path');
    const labels = (await page.evaluate(
      "[...document.querySelectorAll('#timeline svg text')].map((one) => one.textContent)",
    )) as string[];
    expect(labels.filter((label) => /^(queue|copy) /.test(label))).toEqual([
      'queue 1',
      'queue 2',
      'copy host and device',
    ]);
    expect(labels.some((label) => / µs$/.test(label))).toBe(true);
    await page.open(pathToFileURL(makeSimulatedPage()).href, "document.documentElement.dataset.ready === 'true'");
    expect(await text('#h-timeline')).toBe('Dependencies');
    await page.open(pathToFileURL(file).href, "document.documentElement.dataset.ready === 'true'");
  });

  test('two profiles: the largest change first, readable in light and dark, also narrow', async () => {
    const [before, after] = [60, 48].map((calls, i) => {
      const folder = join(temporary, `compared-${i}`);
      writeRocprofCsv(folder, calls);
      return analyse(loadProfile([folder]).recording);
    });
    const machines = ['AMD Instinct MI210 (gfx90a, 104 CUs)'];
    const answer = { ...after.answer, machines };
    const slower = { ...after, answer, kernels: after.kernels.filter((kernel) => !kernel.name.includes('reduce')) };
    const html = join(temporary, 'compared.html');
    writeFileSync(html, comparisonPage(diffProfiles(before, slower), ['before', EVIL[0]]));
    await page.open(pathToFileURL(html).href, "document.documentElement.dataset.ready === 'true'");
    const changes = (await page.evaluate(
      "[...document.querySelectorAll('#changes tbody tr')].map((tr) => tr.cells[1].textContent)",
    )) as string[];
    expect(changes).toHaveLength(3);
    const sizes = changes.map((text) => Number.parseFloat(text.replace(/^[+−]/, '')));
    expect(sizes).toEqual([...sizes].sort((x, y) => y - x));
    expect(await text('#changes tbody tr')).toContain('only before');
    expect(await text('#head')).toContain(`on ${machines[0]}.`);
    expect(await text('#head')).toContain('The GPUs differ');
    expect(await page.evaluate('window.pwned')).toBeUndefined();
    for (const scheme of ['light', 'dark']) {
      await page.evaluate(`document.documentElement.dataset.theme = '${scheme}'`);
      const found = await page.evaluate(
        `${AXE}; axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }).then((result) => result.violations.map((v) => v.id))`,
      );
      expect(found).toEqual([]);
      keep(`compared-${scheme}`, await page.screenshot());
    }
    await page.open(pathToFileURL(file).href, "document.documentElement.dataset.ready === 'true'");
  });

  test('narrow screens do not scroll sideways', async () => {
    await page.resize(390, 900);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    keep('report-narrow', await page.screenshot());
    await page.open(`${pathToFileURL(file).href}#kernel-0`, "document.querySelector('#kernel') !== null");
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    keep('kernel-narrow', await page.screenshot());
    await page.open(pathToFileURL(file).href, "document.documentElement.dataset.ready === 'true'");
    await page.resize(1280, 1600);
    expect(page.problems).toEqual([]);
  });

  test.each(['light', 'dark'] as const)(
    'a simulated program, %s: counts and dependencies, no times',
    async (scheme) => {
      const url = pathToFileURL(makeSimulatedPage()).href;
      page.requests.length = 0;
      await page.scheme(scheme);
      await page.open(url, "document.documentElement.dataset.ready === 'true'");
      expect(await text('.simulated')).toContain('times are unknown');
      expect(await text('#timeline h2')).toBe('Dependencies');
      expect(await text('#kernels tbody')).toMatch(/45/);
      expect(await count('#timeline svg rect.critical')).toBeGreaterThan(1);
      expect(await count('#roofline line.intensity')).toBeGreaterThan(2);
      expect(await count('#roofline circle')).toBe(0);
      await page.evaluate("document.querySelector('#roofline line.intensity').focus()");
      expect(await text('#tooltip')).toMatch(/Requested: .* FLOP\/byte; the rate is unknown/);
      keep(`simulated-${scheme}`, await page.screenshot());
      // Times are lower bounds and say so, with the roof; what a kernel took is unknown and does not lead.
      expect(await text('#answer table caption')).toContain('lower bounds from the roofs, no times');
      expect(await text('#answer tbody tr')).toMatch(/(ns|µs).*(VALU|bandwidth)/);
      const columns = "[...document.querySelectorAll('#kernels thead th')].map((th) => th.textContent)";
      const order = (await page.evaluate(columns)) as string[];
      expect(order).not.toContain('Total');
      expect(await text('#kernels')).toMatch(/Unknown for every kernel: .*Total/);
      expect(await page.evaluate("document.querySelector('#kernels th[aria-sort=descending]').textContent")).toBe(
        'At least, by the roofs',
      );
      // Nothing else is measured in seconds, but what names the simulator's own time.
      await page.evaluate("document.querySelectorAll('#answer table, #kernels tbody').forEach((one) => one.remove())");
      const times = await page.evaluate(
        "document.querySelector('#all').textContent.match(/.{12}\\d (?:ns|µs|ms|s)(?![\\w\\[]).{12}/)?.[0] ?? ''",
      );
      expect(times).toBe('');
      const heads = await page.evaluate("[...document.querySelectorAll('#kernels th')].map((th) => th.textContent)");
      expect(heads).toEqual(
        expect.arrayContaining(['Instructions', 'Lanes per VALU instruction', 'Bytes asked for', 'FLOPs']),
      );
      expect(await text('#traces .listing thead')).toContain('Lanes');
      await page.press('Enter');
      await page.open(`${url}#kernel-0`, "document.querySelector('#kernel') !== null");
      expect(await count('#kernel .listing tbody tr')).toBe(4);
      expect(await text('#kernel')).toContain("Simulator's own time");
      keep(`simulated-kernel-${scheme}`, await page.screenshot());
      expect(await page.evaluate('window.pwned')).toBeUndefined();
      expect(page.requests.filter((one) => !one.startsWith(url))).toEqual([]);
      expect(page.problems).toEqual([]);
    },
  );
});
