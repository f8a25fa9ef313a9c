// Room `report/client`: the code of the page itself. Its functions become text in the page, so each uses only its arguments.
// Begin with this file, which puts the page together, then ui.ts.
//
// Puts the page together: header, sections, the page of a kernel behind `#kernel-N`, light and dark.
import type { PageData, PageKernel, PageTrace } from '../page-data.ts';
import type { KernelViews } from './kernels.ts';
import type { Listing } from './listing.ts';
import type { counterTracks } from './tracks.ts';
import type { Ui } from './ui.ts';
import type { WorkStore } from './work.ts';

/** The functions of this folder as the page passes them along. */
export interface Parts {
  createUi(): Ui;
  answerView(ui: Ui, data: PageData, open: (kernel: number) => void): HTMLElement;
  rooflineView(ui: Ui, data: PageData, open: (kernel: number) => void): HTMLElement;
  openWork(packed: PageData['work']): WorkStore | undefined;
  timelineView(ui: Ui, data: PageData, all: WorkStore | undefined, tracks: typeof counterTracks): HTMLElement;
  counterTracks: typeof counterTracks;
  kernelTable(ui: Ui, data: PageData, open: (kernel: number) => void): HTMLElement;
  kernelPage(ui: Ui, data: PageData, kernel: PageKernel, views: KernelViews, close: () => void): HTMLElement;
  blockCharts(ui: Ui, kernel: PageKernel): HTMLElement;
  metricTables(ui: Ui, kernel: PageKernel): HTMLElement[];
  waveInstructions(ui: Ui, trace: PageTrace, listing: HTMLElement): HTMLElement | undefined;
  traceView(ui: Ui, data: PageData, listing: Listing, wave: Parts['waveInstructions']): HTMLElement;
  instructionListing: Listing;
  sourceLines(ui: Ui, lines: PageTrace['lines']): HTMLElement | undefined;
}

/** Starts the page. */
export function startPage(parts: Parts): void {
  const text = document.getElementById('data')?.textContent ?? '{}';
  const data = JSON.parse(text) as PageData;
  const ui = parts.createUi();
  const main = document.getElementById('main');
  if (main === null) return;
  const all = ui.el('div', { id: 'all' });
  const one = ui.el('div', { id: 'one' });
  const open = (id: number) => {
    location.hash = `kernel-${id}`;
  };
  const route = () => {
    const match = /^#kernel-(\d+)$/.exec(location.hash);
    const kernel = match === null ? undefined : data.kernels.find((k) => k.id === Number(match[1]));
    all.hidden = kernel !== undefined;
    one.replaceChildren();
    if (kernel === undefined) return;
    const views = {
      charts: parts.blockCharts,
      metrics: parts.metricTables,
      listing: parts.instructionListing,
      sources: parts.sourceLines,
    };
    const page = parts.kernelPage(ui, data, kernel, views, () => {
      location.hash = 'kernels';
    });
    one.append(page);
    page.focus();
    scrollTo(0, 0);
  };
  const names: Readonly<Record<string, string>> = {
    answer: 'What to change',
    roofline: 'Roofline',
    timeline:
      data.dependencyPath === null || data.criticalPath.spanNs.value !== undefined ? 'Critical path' : 'Dependencies',
    kernels: 'Kernels',
    traces: 'Instructions',
    findings: 'Findings',
  };
  const nav = ui.el('nav', { 'aria-label': 'Sections' });
  const faults = data.findings.filter(({ severity }) => severity !== 'note').length;
  const agents = data.agents.filter((a) => a.arch !== null).map((a) => `${a.name ?? a.key} (${a.arch})`);
  document
    .getElementById('head')
    ?.append(
      ui.el(
        'p',
        {},
        `Dispatches: ${ui.count(data.dispatches.total)}, kernels: ${ui.count(data.kernels.length + data.omitted.kernels)}${agents.length > 0 ? `, on ${agents.join(', ')}` : ''}.`,
      ),
      ...(faults > 0
        ? [
            ui.el(
              'p',
              { class: 'simulated' },
              `The input has ${faults === 1 ? 'a fault' : `${ui.count(faults)} faults`} that may change what is shown: see `,
              ui.el('a', { href: '#findings' }, 'Findings'),
              '.',
            ),
          ]
        : []),
      ...(data.simulated
        ? [
            ui.el(
              'p',
              { class: 'simulated' },
              `Simulated on the virtual GPU: counts are exact, times are ${data.modelledChip === null ? 'unknown' : `modelled for ${data.modelledChip}`}.`,
            ),
          ]
        : []),
      nav,
    );
  const findings = ui.el(
    'section',
    { id: 'findings', 'aria-labelledby': 'h-findings' },
    ui.el('h2', { id: 'h-findings' }, 'Findings'),
  );
  if (data.findings.length === 0)
    findings.append(ui.el('p', { class: 'empty' }, 'Nothing in the input was missing or contradictory.'));
  else {
    findings.append(
      ui.table(
        'What was missing or contradictory in the input',
        ['Code', 'File', 'Message', 'Times'],
        data.findings.slice(0, 500).map((f) => [ui.el('code', {}, f.code), f.file, f.message, String(f.count)]),
        [3],
      ),
    );
  }
  if (data.calls.length > 0) {
    const [FIRST_CALLS, MOST_CALLS] = [15, 200];
    const callHead = ['Domain', 'Name', 'Calls', 'Total', 'Longest'];
    const callRow = (c: PageData['calls'][number]) => [
      c.domain,
      c.name,
      ui.count(c.calls),
      ui.ns(c.totalNs),
      ui.ns(c.maxNs),
    ];
    const hasSums = data.calls.some(({ domain }) => domain.endsWith(' (stats)'));
    findings.append(
      ui.table(
        hasSums ? 'API calls, markers and sums of statistics files' : 'API calls and markers',
        callHead,
        data.calls.slice(0, FIRST_CALLS).map(callRow),
        [2, 3, 4],
      ),
      ...(data.calls.length > FIRST_CALLS
        ? [
            ui.el(
              'details',
              {},
              ui.el('summary', {}, `${ui.count(Math.min(MOST_CALLS, data.calls.length) - FIRST_CALLS)} more`),
              ui.table(
                'Further calls and markers',
                callHead,
                data.calls.slice(FIRST_CALLS, MOST_CALLS).map(callRow),
                [2, 3, 4],
              ),
            ),
          ]
        : []),
      ...(data.omitted.functions > 0
        ? [
            ui.el(
              'p',
              { class: 'note' },
              `${ui.count(data.omitted.functions)} more functions and markers, which are called ${ui.count(data.omitted.calls)} times, take ${ui.ns(data.omitted.callNs)}.`,
            ),
          ]
        : []),
    );
  }
  findings.append(
    ui.el(
      'details',
      {},
      ui.el('summary', {}, `Files read: ${ui.count(data.sources.length)}`),
      ui.el('ul', {}, ...data.sources.slice(0, 500).map((s) => ui.el('li', {}, `${s.path} (${s.format})`))),
    ),
  );
  const sections = [
    parts.answerView(ui, data, open),
    parts.rooflineView(ui, data, open),
    parts.timelineView(ui, data, parts.openWork(data.work), parts.counterTracks),
    parts.kernelTable(ui, data, open),
    parts.traceView(ui, data, parts.instructionListing, parts.waveInstructions),
    findings,
  ];
  // A chart without anything on it, and a list of nothing, do not stand before what is known.
  const isBare = (section: HTMLElement) =>
    (section.id === 'roofline' && section.querySelector('.dot, .intensity') === null) ||
    (section.id === 'timeline' && section.querySelector('svg') === null) ||
    (section.id === 'traces' && data.traces.length === 0 && data.samples.length === 0);
  const isLast = (section: HTMLElement) => section === findings;
  const inOrder = [
    ...sections.filter((section) => !isBare(section) && !isLast(section)),
    ...sections.filter((section) => isBare(section)),
    findings,
  ];
  all.append(...inOrder);
  for (const { id } of inOrder) nav.append(ui.el('a', { href: `#${id}` }, names[id] ?? id));
  nav.append(ui.themeButton());
  main.append(all, one);
  addEventListener('hashchange', route);
  route();
  document.documentElement.dataset.ready = 'true';
}
