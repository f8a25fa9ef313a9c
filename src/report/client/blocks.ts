// What a kernel asks of the blocks of the GPU, a chart for each question, and its metrics with their formulas behind a click.
import type { PageKernel, PageMeasure } from '../page-data.ts';
import type { Ui } from './ui.ts';

/** Bars that answer: how much of each bandwidth, how busy each block, how often caches hit, what keeps workgroups out. */
export function blockCharts(ui: Ui, kernel: PageKernel): HTMLElement {
  const root = ui.el('div', {});
  const unknowns = new Map<string, string[]>();
  const missing = (name: string, why: string) => {
    unknowns.set(why, [...(unknowns.get(why) ?? []), name]);
  };
  const chart = (title: string, bars: readonly HTMLElement[]) => {
    if (bars.length > 0) root.append(ui.el('h3', {}, title), ...bars);
  };
  chart(
    'Share of each bandwidth',
    kernel.roofline.points.flatMap(({ level, bytes, bandwidth, ofPeak }) => {
      if (bytes.value === undefined) {
        missing(level, bytes.unknown ?? '');
        return [];
      }
      const rate = bandwidth.value === undefined ? 'rate unknown' : ui.bandwidth(bandwidth.value);
      const share = ofPeak.value === undefined ? '' : `, ${ui.percent(ofPeak.value)} of peak`;
      const why = bandwidth.unknown ?? ofPeak.unknown;
      if (why !== undefined) missing(`share of ${level}`, why);
      return [ui.bar(ofPeak.value ?? 0, `${level}: ${ui.bytes(bytes.value)}, ${rate}${share}`)];
    }),
  );
  const metric = (id: string): PageMeasure =>
    kernel.metrics[id]?.value ?? { unknown: 'no formula on this architecture' };
  const bars = (entries: readonly (readonly [name: string, share: PageMeasure])[]): HTMLElement[] =>
    entries.flatMap(([name, { value, unknown }]) => {
      if (value !== undefined) return [ui.bar(value, `${name}: ${ui.percent(value)}`)];
      missing(name, unknown ?? '');
      return [];
    });
  chart(
    'How busy each block is',
    bars([
      ['FLOPs, of the peak of their types', kernel.roofline.computeOfPeak],
      ['Matrix units work', metric('mfma.busy')],
      ['VALU issues', metric('issue.valu')],
      ['Scalar units issue', metric('issue.salu')],
      ['Vector memory issues', metric('issue.vmem')],
      ['LDS issues', metric('issue.lds')],
      ['LDS works', metric('lds.busy')],
    ]),
  );
  chart(
    'How often caches hit',
    bars([
      ['L1', metric('l1.hit')],
      ['L2', metric('l2.hit')],
      ['Scalar data cache', metric('dcache.hit')],
    ]),
  );
  const full = ['waves', 'vgprs', 'sgprs', 'lds', 'barriers'].flatMap((name) => {
    const value = metric(`limit.${name}`).value ?? 0;
    return value > 0 ? [ui.bar(value, `${kernel.metrics[`limit.${name}`]?.label ?? name}: ${ui.percent(value)}`)] : [];
  });
  chart('What keeps workgroups from starting', full);
  if (unknowns.size > 0) {
    const names = [...unknowns.values()].flat();
    root.append(
      ui.el(
        'details',
        {},
        ui.el(
          'summary',
          {},
          `Unknown: ${names.slice(0, 3).join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`,
        ),
        ui.el('ul', {}, ...[...unknowns].map(([why, of]) => ui.el('li', {}, `${of.join(', ')}: ${why}`))),
      ),
    );
  }
  return root;
}

/** The metrics of a kernel: what is not zero first, then zeros; formulas, sources and what is unknown behind a click. */
export function metricTables(ui: Ui, kernel: PageKernel): HTMLElement[] {
  const all = Object.values(kernel.metrics);
  const known = all.filter((m) => m.value.value !== undefined);
  const unknown = all.filter((m) => m.value.value === undefined);
  const order = [...known.filter((m) => m.value.value !== 0), ...known.filter((m) => m.value.value === 0)];
  const behind = (summary: string, table: HTMLElement) => ui.el('details', {}, ui.el('summary', {}, summary), table);
  return [
    ui.table(
      'Metrics',
      ['Metric', 'Value', 'Dispatches'],
      order.map((m) => [m.label, ui.measure(m.value, (value) => ui.value(value, m.unit)), ui.count(m.dispatches)]),
      [1, 2],
    ),
    ...(unknown.length === 0
      ? []
      : [
          behind(
            `${unknown.length} metrics are unknown`,
            ui.table(
              'Unknown metrics',
              ['Metric', 'Why'],
              unknown.map((m) => [m.label, m.value.unknown ?? '']),
            ),
          ),
        ]),
    behind(
      'Formulas and sources',
      ui.table(
        'Formulas and sources of the metrics',
        ['Metric', 'Formula', 'Source'],
        all.map((m) => [m.label, ui.el('code', {}, m.formula), m.source]),
      ),
    ),
  ];
}
