// The timeline with counter tracks, the timeline zoomed in, and the comparison, as people see them: in light and dark, wide and narrow. Held
// by axe-core, by the contrast and size of the texts in drawings, which axe leaves undecided, and by screenshots in .wavesmith/screenshots.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { analyse, analyseAll, diffProfiles, loadProfile } from '../src/profile/index.ts';
import { comparisonPage, profilePage } from '../src/report/index.ts';
import { kernelTraceCsv, writeRocprofCsv } from './profile-fixtures.ts';
import { findChromium, Page } from './support/chromium.ts';

const chromium = findChromium();
const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-looks-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const recorded = (calls: number) => {
  const folder = join(temporary, `run-${calls}`);
  writeRocprofCsv(folder, calls);
  return loadProfile([folder]).recording;
};
const written = (name: string, html: string): string => {
  const path = join(temporary, `${name}.html`);
  writeFileSync(path, html);
  return pathToFileURL(path).href;
};
const reported = (calls: number): string => {
  const { document, work } = analyseAll(recorded(calls));
  return written(`report-${calls}`, profilePage(document, work));
};

/** A place of a page: where it is, and what is pressed there. */
const PLACES = {
  tracks: { url: () => reported(60), at: '#timeline', keys: [] as string[] },
  near: { url: () => reported(12_000), at: '#timeline', keys: Array<string>(12).fill('+') },
  compared: {
    url: () => {
      const [before, after] = [60, 48].map((calls) => analyse(recorded(calls)));
      return written('compared', comparisonPage(diffProfiles(before, after), ['before', 'after']));
    },
    at: '#changes',
    keys: [] as string[],
  },
} as const;

/** Texts of drawings whose contrast with what is drawn below them is less than WCAG asks for, in the page. */
const PALE = `(() => {
  const channels = (color) => (color.match(/[0-9.]+/g) ?? []).map(Number);
  const light = (color) => {
    const [r, g, b] = channels(color).slice(0, 3).map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const solid = (color) => color !== 'none' && color !== '' && (channels(color)[3] ?? 1) === 1;
  const below = (text) => {
    const box = text.getBoundingClientRect();
    const all = document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    for (const one of all.slice(all.indexOf(text) + 1)) {
      const style = getComputedStyle(one);
      const color = one instanceof SVGElement && one.tagName !== 'svg' ? style.fill : style.backgroundColor;
      if (one.tagName !== 'text' && solid(color) && style.opacity === '1' && style.fillOpacity === '1') return color;
    }
    return getComputedStyle(document.body).backgroundColor;
  };
  return [...document.querySelectorAll('svg text')].flatMap((text) => {
    const box = text.getBoundingClientRect();
    if (box.width === 0 || box.top < 0 || box.bottom > innerHeight || box.left < 0 || box.right > innerWidth) return [];
    const [a, b] = [light(getComputedStyle(text).fill), light(below(text))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    return contrast < 4.5 ? [text.textContent + ' ' + contrast.toFixed(2)] : [];
  });
})()`;

/** Pixels of the smallest letters of drawings, as they are shown. */
const SMALLEST = `Math.min(99, ...[...document.querySelectorAll('svg text')].map((text) =>
  Number.parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d))`;

/** Pixels by which the timeline is wider than what is seen of it. */
const BEYOND =
  "(() => { const chart = document.querySelector('#timeline .chart'); return chart.scrollWidth - chart.clientWidth; })()";

describe.skipIf(chromium === undefined)('in headless Chromium', () => {
  let page: Page;
  beforeAll(async () => {
    page = await Page.start(chromium ?? '');
  });
  afterAll(() => page?.close());

  const cases = (Object.keys(PLACES) as (keyof typeof PLACES)[]).flatMap((name) =>
    (['light', 'dark'] as const).flatMap((scheme) =>
      (['wide', 'narrow'] as const).map((width) => [name, scheme, width] as const),
    ),
  );
  test.each(cases)('%s, %s, %s', async (name, scheme, width) => {
    const { url, at, keys } = PLACES[name];
    await page.resize(width === 'wide' ? 1280 : 390, width === 'wide' ? 1600 : 900);
    await page.scheme(scheme);
    await page.open(url(), "document.documentElement.dataset.ready === 'true'");
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor === 'rgb(13, 17, 23)'")).toBe(
      scheme === 'dark',
    );
    for (const key of keys) {
      const event = `new KeyboardEvent('keydown', { key: ${JSON.stringify(key)} })`;
      await page.evaluate(`document.querySelector('${at} svg').dispatchEvent(${event})`);
    }
    if (name === 'tracks')
      expect(await page.evaluate("document.querySelectorAll('#timeline svg .track').length")).toBeGreaterThan(2);
    if (name === 'near')
      expect(await page.evaluate("Number(document.querySelector('#timeline svg').dataset.pieces)")).toBeGreaterThan(0);
    await page.evaluate(`document.querySelector('${at}').scrollIntoView()`);
    const folder = process.env.WAVESMITH_SCREENSHOTS ?? join('.wavesmith', 'screenshots');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `looks-${name}-${scheme}-${width}.png`), await page.screenshot());
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    // All of the timeline is in sight: nobody looks for work beyond an empty chart.
    if (at === '#timeline') expect(await page.evaluate(BEYOND)).toBe(0);
    expect(await page.evaluate(PALE)).toEqual([]);
    expect(await page.evaluate(SMALLEST)).toBeGreaterThan(9);
    await page.evaluate(AXE);
    const violations = await page.evaluate(
      `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }).then((result) =>
        result.violations.map((v) => v.id + ' ' + v.nodes.length + ': ' + v.nodes[0].target + ' ' + v.nodes[0].failureSummary))`,
    );
    expect(violations).toEqual([]);
    expect(page.problems).toEqual([]);
  });

  test.each([1280, 390])(
    '200 kernels with long names, %i pixels wide: rows stay short, and times are in sight',
    async (width) => {
      const folder = join(temporary, `long-${width}`);
      mkdirSync(folder);
      const [header, row] = kernelTraceCsv(1).trim().split('\n');
      const name = (k: number) =>
        `"void ck::gemm<${k}, ${'ck::tensor_operation::element_wise::PassThrough, '.repeat(8)}float>(float*)"`;
      const rows = Array.from({ length: 200 }, (_, k) =>
        row
          .replace(/"void scale[^"]*"/, name(k))
          .replace(',77,1,', `,77,${k + 1},`)
          .replaceAll(',1550000000', `,15500${10_000 + k}`),
      );
      writeFileSync(join(folder, 'kernel_trace.csv'), `${[header, ...rows].join('\n')}\n`);
      const { document, work } = analyseAll(loadProfile([folder]).recording);
      expect(document.kernels).toHaveLength(200);
      await page.resize(width, 1200);
      await page.open(
        written(`long-${width}`, profilePage(document, work)),
        "document.documentElement.dataset.ready === 'true'",
      );
      const tallest =
        "Math.max(...[...document.querySelectorAll('#answer tbody tr, #kernels tbody tr')].map((row) => row.getBoundingClientRect().height))";
      expect(await page.evaluate(tallest)).toBeLessThan(90);
      expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(5000);
      const time =
        "document.querySelector('#answer tbody tr td:nth-child(2)').getBoundingClientRect().right <= innerWidth";
      expect(await page.evaluate(time)).toBe(true);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      // The whole name is there for those who want it.
      expect(await page.evaluate("document.querySelector('#kernels tbody a').title.length")).toBeGreaterThan(300);
    },
  );

  test('the legend of the roofline names the levels that are drawn, and no others', async () => {
    await page.open(PLACES.tracks.url(), "document.documentElement.dataset.ready === 'true'");
    // The number of L2 channels is not in these files, so L2 has no roof.
    const named = "[...document.querySelectorAll('#roofline .legend li')].map((item) => item.textContent)";
    expect(await page.evaluate(named)).toEqual(['HBM', 'L1', 'LDS']);
  });

  test('the contrast of texts in drawings is held: a pale one is found', async () => {
    await page.open(PLACES.tracks.url(), "document.documentElement.dataset.ready === 'true'");
    await page.evaluate("document.querySelector('#timeline').scrollIntoView()");
    await page.evaluate("document.querySelector('#timeline svg text').style.fill = 'rgb(120, 120, 120)'");
    expect(await page.evaluate(PALE)).toHaveLength(1);
  });
});
