// The page of web/ in headless Chromium: assembles and runs kernels of every target, shows errors, stays responsive, loads nothing
// from elsewhere. `WAVESMITH_SCREENSHOTS=DIR` keeps screenshots to look at.

import { mkdirSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildWeb, serveWeb } from '../scripts/web.mjs';
import { findChromium, Page } from './support/chromium.ts';

const chromium = findChromium();

async function keep(page: Page, name: string): Promise<void> {
  const folder = process.env.WAVESMITH_SCREENSHOTS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.png`), await page.screenshot());
}

/** Fills fields of the form, presses the button and waits for the answer. */
async function submit(page: Page, fields: Readonly<Record<string, string>> = {}): Promise<string> {
  const set = Object.entries(fields)
    .map(([id, value]) => `document.getElementById('${id}').value = ${JSON.stringify(value)};`)
    .join('');
  await page.evaluate(
    `${set}document.getElementById('output').replaceChildren();document.getElementById('run').click()`,
  );
  await page.until("document.body.dataset.state === 'idle'");
  return String(await page.evaluate("document.getElementById('status').textContent"));
}

const texts = (page: Page, selector: string): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('${selector}')].map((e) => e.textContent)`) as Promise<string[]>;

describe.skipIf(chromium === undefined).each([
  ['cross-origin isolated', true],
  ['not isolated: no shared memory', false],
])('%s', (_name, isolated) => {
  let page: Page;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    await buildWeb();
    ({ server, url } = await serveWeb(0, { isolated }));
    page = await Page.start(chromium as string);
    await page.open(url, "document.body?.dataset.state === 'idle'");
  });
  afterAll(async () => {
    await page?.close();
    server?.close();
  });

  test('the page has the isolation that was asked for, and asks nobody else for anything', async () => {
    expect(await page.evaluate('crossOriginIsolated')).toBe(isolated);
    expect(page.requests.filter((request) => !request.startsWith(url) && request !== 'data:,')).toEqual([]);
  });

  test.each(['gfx90a', 'gfx942', 'gfx950'])('the example runs on %s', async (target) => {
    expect(await submit(page, { target })).toMatch(/^saxpy: \d+ instructions, 16 wavefronts/);
    const [y, x] = await texts(page, '#output h2');
    expect(y).toBe('y: f32[1000], 999 elements changed');
    expect(x).toBe('x: f32[1000], 0 elements changed');
    const values = (await texts(page, '#output ol:first-of-type li')).slice(0, 64).map(Number);
    expect(values).toEqual(Array.from({ length: 64 }, (_, i) => 1 + 0.5 * i));
    const registers = (await texts(page, '.registers'))[0]?.split('\n');
    expect(registers).toContain('exec=0xffffffffffffffff');
    expect(registers).toContain('v0=[0x0 0x1 0x2 0x3 …]');
    expect(registers).toContain('v3=[0x3f800000 0x3fc00000 0x40000000 0x40200000 …]');
    await keep(page, `web-${target}${isolated ? '' : '-not-isolated'}`);
  });

  test('without registers the kernel runs compiled, with the same result', async () => {
    const first = await texts(page, '#output ol:first-of-type li');
    await page.evaluate("document.getElementById('registers').click()");
    expect(await submit(page)).toMatch(/^saxpy: \d+ instructions/);
    expect(await texts(page, '#output ol:first-of-type li')).toEqual(first);
    expect(await texts(page, '.registers')).toEqual([]);
    await page.evaluate("document.getElementById('registers').click()");
  });

  test('an assembly error names its line, and the link selects it', async () => {
    const source = String(await page.evaluate("document.getElementById('source').value"));
    const wrong = source.replace('v_fmac_f32_e32 v3, s8, v2', 'v_fmac_f32_e32 v3, s8, v999');
    expect(await submit(page, { source: wrong })).toBe('One problem');
    const line = source.split('\n').findIndex((text) => text.includes('v_fmac_f32')) + 1;
    expect((await texts(page, '.problem pre'))[0]).toContain(`kernel.s:${line}:`);
    await keep(page, `web-error${isolated ? '' : '-not-isolated'}`);
    await page.evaluate("document.querySelector('.problem button').click()");
    const selected = await page.evaluate(
      "(() => { const s = document.getElementById('source'); return s.value.slice(s.selectionStart, s.selectionEnd); })()",
    );
    expect(selected).toContain('v999');
    await page.evaluate("document.getElementById('reset').click()");
  });

  test('a fault of the kernel is a message, not a broken page', async () => {
    expect(await submit(page, { args: 'f32[10]=1\nf32[10]=iota\nf32=0.5\nu32=1000' })).toBe('One problem');
    expect((await texts(page, '.problem pre'))[0]).toMatch(/outside live memory/);
    expect(await submit(page, { args: 'f32[10]=oops' })).toBe('One problem');
    expect(page.problems).toEqual([]);
  });

  test('an endless loop leaves the page usable: Stop ends it', async () => {
    const source = String(await page.evaluate("document.getElementById('source').value"));
    const args = 'f32[1000]=1\nf32[1000]=iota\nf32=0.5\nu32=1000';
    const endless = source.replace('  s_waitcnt lgkmcnt(0)', 'again:\n  s_branch again');
    await page.evaluate(
      `document.getElementById('source').value = ${JSON.stringify(endless)};document.getElementById('args').value = ${JSON.stringify(args)};document.getElementById('run').click()`,
    );
    expect(await page.evaluate('document.body.dataset.state')).toBe('running');
    await page.evaluate("document.getElementById('stop').click()");
    expect(await page.evaluate("document.getElementById('status').textContent")).toBe('Stopped');
    await page.evaluate("document.getElementById('reset').click()");
    expect(await submit(page)).toMatch(/^saxpy: /);
    expect(page.problems).toEqual([]);
  });

  test('narrow screens do not scroll sideways', async () => {
    await page.resize(400, 900);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await keep(page, `web-narrow${isolated ? '' : '-not-isolated'}`);
    await page.resize(1280, 1000);
  });
});
