// The page of two profiles: what became faster and slower, the largest change first, and what changed with it.
import type { PageMeasure } from '../page-data.ts';
import type { Ui } from './ui.ts';

/** What the page shows of `ProfileDiff`. */
export interface ComparisonData {
  readonly names: readonly [string, string];
  readonly machines: readonly [readonly string[], readonly string[]];
  readonly totalNs: readonly [PageMeasure, PageMeasure];
  readonly criticalNs: readonly [PageMeasure, PageMeasure];
  readonly kernels: readonly {
    readonly name: string;
    readonly status: string;
    readonly calls: readonly [number, number];
    readonly totalNs: readonly [PageMeasure, PageMeasure];
    readonly meanNs: readonly [PageMeasure, PageMeasure];
    readonly meanRatio: PageMeasure;
    readonly changeNs: PageMeasure;
    readonly significant: boolean | null;
    readonly metrics: readonly {
      readonly id: string;
      readonly label: string;
      readonly unit: string;
      readonly a: number;
      readonly b: number;
    }[];
    readonly bottleneck: readonly [string | null, string | null];
  }[];
}

/** Draws the comparison. */
export function comparisonView(ui: Ui, data: ComparisonData): HTMLElement[] {
  const signed = (ns: number) => `${ns > 0 ? '+' : ns < 0 ? '−' : ''}${ui.ns(Math.abs(ns))}`;
  const only: Readonly<Record<string, string>> = { 'only in A': 'only before', 'only in B': 'only after' };
  const percent = ([{ value: a }, { value: b }]: readonly [PageMeasure, PageMeasure]) =>
    a === undefined || b === undefined || a === 0
      ? ''
      : ` (${b > a ? '+' : b < a ? '−' : ''}${ui.percent(Math.abs(b / a - 1))})`;
  const both = ([a, b]: readonly [PageMeasure, PageMeasure]) =>
    ui.el('span', {}, ui.measure(a, ui.ns), ' → ', ui.measure(b, ui.ns));
  const tile = (label: string, value: HTMLElement) => ui.el('div', { class: 'tile' }, ui.el('span', {}, label), value);
  const totals = ui.el(
    'section',
    { id: 'totals', 'aria-labelledby': 'h-totals' },
    ui.el('h2', { id: 'h-totals' }, 'All work'),
    ui.el(
      'div',
      { class: 'tiles' },
      tile('GPU work', ui.el('span', {}, both(data.totalNs), percent(data.totalNs))),
      tile('Critical path', ui.el('span', {}, both(data.criticalNs), percent(data.criticalNs))),
    ),
  );
  const noise = (significant: boolean | null) =>
    significant === null ? 'too few calls to tell' : significant ? 'more than the spread' : 'within the spread';
  const limiter = ([a, b]: readonly [string | null, string | null]) =>
    a === b ? (a ?? 'no class has evidence') : `${a ?? 'no class'} → ${b ?? 'no class'}`;
  const changed = data.kernels.filter((kernel) => kernel.changeNs.value !== undefined && kernel.changeNs.value !== 0);
  const most = changed.reduce((max, { changeNs }) => Math.max(max, Math.abs(changeNs.value ?? 0)), 1);
  const bar = (ns: number): SVGElement => {
    const wide = (58 * Math.abs(ns)) / most;
    return ui.svg(
      'svg',
      { viewBox: '0 0 120 12', width: 120, height: 12, 'aria-hidden': 'true' },
      ui.svg('rect', {
        x: ns < 0 ? 60 - wide : 60,
        y: 1,
        width: Math.max(1, wide),
        height: 10,
        class: ns < 0 ? 'faster' : 'slower',
      }),
      ui.svg('line', { x1: 60, x2: 60, y1: 0, y2: 12, class: 'grid' }),
    );
  };
  const section = ui.el(
    'section',
    { id: 'changes', 'aria-labelledby': 'h-changes' },
    ui.el('h2', { id: 'h-changes' }, 'Changes, the largest first'),
  );
  if (changed.length === 0) {
    const isCompared = data.kernels.some((kernel) => kernel.changeNs.value !== undefined);
    const none = isCompared ? 'No kernel has another time.' : 'No kernel has a known time in both profiles.';
    section.append(ui.el('p', { class: 'empty' }, none));
  } else {
    section.append(
      ui.table(
        'Kernels by how much their time changed',
        ['Kernel', 'Change', 'Less or more', 'Mean', 'Ratio of means', 'Against noise', 'Limited by', 'Total', 'Calls'],
        changed
          .slice(0, 500)
          .map((kernel) => [
            ui.el('span', { class: 'kernel-name', title: kernel.name }, kernel.name),
            ui.measure(kernel.changeNs, signed),
            bar(kernel.changeNs.value ?? 0),
            both(kernel.meanNs),
            kernel.status === 'both'
              ? ui.measure(kernel.meanRatio, (v) => `×${v.toFixed(3)}`)
              : (only[kernel.status] ?? kernel.status),
            noise(kernel.significant),
            limiter(kernel.bottleneck),
            both(kernel.totalNs),
            `${ui.count(kernel.calls[0])} → ${ui.count(kernel.calls[1])}`,
          ]),
        [1, 3, 4, 7, 8],
      ),
    );
  }
  const untimed = data.kernels.length - data.kernels.filter((kernel) => kernel.changeNs.value !== undefined).length;
  if (untimed > 0) {
    section.append(
      ui.el('p', { class: 'note' }, `Kernels whose time is unknown in one of the profiles: ${ui.count(untimed)}.`),
    );
  }
  const reasons = ui.el(
    'section',
    { id: 'reasons', 'aria-labelledby': 'h-reasons' },
    ui.el('h2', { id: 'h-reasons' }, 'What else changed'),
  );
  const withMetrics = data.kernels.filter((kernel) => kernel.metrics.length > 0).slice(0, 50);
  if (withMetrics.length === 0) {
    reasons.append(ui.el('p', { class: 'empty' }, 'No metric of a kernel is known on both sides and differs.'));
  }
  withMetrics.forEach((kernel, i) => {
    const details = ui.el(
      'details',
      {},
      ui.el(
        'summary',
        {},
        `${kernel.name}: ${kernel.metrics.length === 1 ? '1 metric differs' : `${kernel.metrics.length} metrics differ`}`,
      ),
      ui.table(
        `Metrics of ${kernel.name}, the largest change first`,
        ['Metric', 'Before', 'After', 'Ratio'],
        kernel.metrics.map(({ label, unit, a, b }) => [
          label,
          ui.value(a, unit),
          ui.value(b, unit),
          a === 0 ? '' : `×${(b / a).toPrecision(3)}`,
        ]),
        [1, 2, 3],
      ),
    );
    if (i < 3) details.setAttribute('open', '');
    reasons.append(details);
  });
  return [totals, section, reasons];
}

/** Starts the page. */
export function startComparison(parts: {
  createUi(): Ui;
  comparisonView(ui: Ui, data: ComparisonData): HTMLElement[];
}): void {
  const data = JSON.parse(document.getElementById('data')?.textContent ?? '{}') as ComparisonData;
  const ui = parts.createUi();
  const on = (machines: readonly string[]) => (machines.length === 0 ? '' : ` on ${machines.join(', ')}`);
  const [before, after] = data.machines;
  const isOther = before.length > 0 && after.length > 0 && before.join() !== after.join();
  document
    .getElementById('head')
    ?.append(
      ui.el(
        'p',
        {},
        `Before: ${data.names[0]}${on(data.machines[0])}. After: ${data.names[1]}${on(data.machines[1])}.`,
      ),
      ...(isOther
        ? [ui.el('p', { class: 'simulated' }, 'The GPUs differ, so times differ without any change of the program.')]
        : []),
      ui.el(
        'nav',
        { 'aria-label': 'Sections' },
        ui.el('a', { href: '#totals' }, 'All work'),
        ui.el('a', { href: '#changes' }, 'Changes'),
        ui.el('a', { href: '#reasons' }, 'What else changed'),
        ui.themeButton(),
      ),
    );
  document.getElementById('main')?.append(...parts.comparisonView(ui, data));
  document.documentElement.dataset.ready = 'true';
}
