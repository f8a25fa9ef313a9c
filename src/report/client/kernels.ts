// The kernel table (sortable, searchable) and the page of one kernel: counters, evidence, occupancy, launches.
import type { PageData, PageKernel, PageMeasure, PageTrace } from '../page-data.ts';
import type { Listing } from './listing.ts';
import type { Ui } from './ui.ts';

/** Draws the kernel table. */
export function kernelTable(ui: Ui, data: PageData, open: (kernel: number) => void): HTMLElement {
  const MAX_ROWS = 500;
  const section = ui.el(
    'section',
    { id: 'kernels', 'aria-labelledby': 'h-kernels' },
    ui.el('h2', { id: 'h-kernels' }, 'Kernels'),
  );
  const number = (m: PageMeasure | undefined) => m?.value ?? Number.NEGATIVE_INFINITY;
  const hbm = (k: PageKernel) => k.roofline.points.find((p) => p.level === 'HBM');
  const none: PageMeasure = { unknown: 'no data' };
  interface Column {
    readonly name: string;
    readonly key: (k: PageKernel) => number | string;
    readonly cell: (k: PageKernel) => Node | string;
    readonly numeric: boolean;
  }
  // What is exact on the virtual GPU, whether or not times are modelled.
  const sum = (name: string, measures: (k: PageKernel) => readonly (PageMeasure | undefined)[]): Column => {
    const total = (k: PageKernel): PageMeasure => {
      const all = measures(k).map((m) => m ?? none);
      return all.find((m) => m.value === undefined) ?? { value: all.reduce((a, m) => a + (m.value ?? 0), 0) };
    };
    return { name, key: (k) => number(total(k)), cell: (k) => ui.measure(total(k), ui.num), numeric: true };
  };
  const metric = (k: PageKernel, id: string) => k.metrics[id]?.value;
  const counted: readonly Column[] = [
    sum('Instructions', (k) => [k.counters.SQ_INSTS === undefined ? none : { value: k.counters.SQ_INSTS.sum }]),
    sum('Lanes per VALU instruction', (k) => [metric(k, 'lanes.active')]),
    sum('Bytes asked for', (k) => [metric(k, 'bytes.requested.read'), metric(k, 'bytes.requested.write')]),
    sum('FLOPs', (k) => [k.roofline.flops]),
  ];
  const isOneGpu = new Set(data.kernels.map((kernel) => kernel.agent)).size === 1;
  const all: readonly Column[] = [
    {
      name: 'Kernel',
      key: (k) => k.name,
      cell: (k) =>
        ui.el(
          'a',
          {
            href: `#kernel-${k.id}`,
            class: 'kernel-name',
            title: k.name,
            click: (event) => {
              event.preventDefault();
              open(k.id);
            },
          },
          k.name,
        ),
      numeric: false,
    },
    { name: 'Calls', key: (k) => k.calls, cell: (k) => ui.count(k.calls), numeric: true },
    { name: 'Total', key: (k) => number(k.totalNs), cell: (k) => ui.measure(k.totalNs, ui.ns), numeric: true },
    { name: 'Share', key: (k) => number(k.share), cell: (k) => ui.measure(k.share, ui.percent), numeric: true },
    { name: 'Mean', key: (k) => number(k.meanNs), cell: (k) => ui.measure(k.meanNs, ui.ns), numeric: true },
    {
      name: 'FLOP rate',
      key: (k) => number(k.roofline.gflops),
      cell: (k) => ui.measure(k.roofline.gflops, ui.flops),
      numeric: true,
    },
    {
      name: 'HBM',
      key: (k) => number(hbm(k)?.ofPeak),
      cell: (k) => ui.measure(hbm(k)?.ofPeak ?? none, ui.percent),
      numeric: true,
    },
    {
      name: 'Occupancy',
      key: (k) => number(k.occupancy.share),
      cell: (k) => ui.measure(k.occupancy.share, ui.percent),
      numeric: true,
    },
    {
      name: 'On critical path',
      key: (k) => number(k.critical.criticalNs),
      cell: (k) => ui.measure(k.critical.criticalNs, ui.ns),
      numeric: true,
    },
    {
      name: 'Bottleneck',
      key: (k) => k.bottleneck.classes[0]?.class ?? '',
      cell: (k) => k.bottleneck.classes[0]?.class ?? '–',
      numeric: false,
    },
    ...(data.simulated ? counted : []),
    // Beside known times it would be that of the dispatches with counters, which may be fewer.
    ...(data.kernels.every((k) => k.totalNs.value !== undefined)
      ? []
      : [
          {
            name: 'At least, by the roofs',
            key: (k: PageKernel) => number(k.roofline.leastNs),
            cell: (k: PageKernel) => ui.measure(k.roofline.leastNs, ui.ns),
            numeric: true,
          },
        ]),
    ...(isOneGpu
      ? []
      : [{ name: 'GPU', key: (k: PageKernel) => k.agent, cell: (k: PageKernel) => k.agent, numeric: false }]),
  ];
  // What is unknown for all kernels is one sentence below, not columns.
  const isBare = (column: Column) =>
    column.numeric && data.kernels.every((k) => column.key(k) === Number.NEGATIVE_INFINITY);
  const columns = all.filter((column) => !isBare(column));
  const bare = all.filter(isBare).map(({ name }) => name);
  const lead = ['Total', 'At least, by the roofs', 'Instructions', 'Calls'];
  const first = lead.find((name) => all.some((column) => column.name === name && !isBare(column)));
  let sorted = columns.findIndex((column) => column.name === first);
  let down = true;
  const search = ui.el('input', {
    type: 'search',
    id: 'kernel-search',
    placeholder: 'part of a name',
  }) as HTMLInputElement;
  const status = ui.el('p', { class: 'note', role: 'status' });
  const body = ui.el('tbody');
  const heads = columns.map((column, i) => {
    const button = ui.el('button', { type: 'button' }, column.name);
    const head = ui.el('th', { scope: 'col', ...(column.numeric ? { class: 'n' } : {}) }, button);
    button.addEventListener('click', () => {
      down = sorted === i ? !down : column.numeric;
      sorted = i;
      draw();
    });
    return head;
  });
  const draw = () => {
    const wanted = search.value.toLowerCase();
    const key = columns[sorted].key;
    const rows = data.kernels
      .filter((k) => k.name.toLowerCase().includes(wanted))
      .sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        const order = x < y ? -1 : x > y ? 1 : a.id - b.id;
        return down ? -order : order;
      });
    heads.forEach((head, i) => {
      head.setAttribute('aria-sort', i !== sorted ? 'none' : down ? 'descending' : 'ascending');
    });
    body.replaceChildren(
      ...rows
        .slice(0, MAX_ROWS)
        .map((k) =>
          ui.el('tr', {}, ...columns.map((c) => ui.el('td', { class: c.numeric ? 'n' : 'name' }, c.cell(k)))),
        ),
    );
    status.textContent =
      rows.length > MAX_ROWS
        ? `${MAX_ROWS} of ${rows.length} kernels shown; search to narrow.`
        : `Kernels: ${rows.length}${data.omitted.kernels > 0 ? ` of most time; ${ui.count(data.omitted.kernels)} more take ${ui.ns(data.omitted.kernelNs)}` : ''}.`;
  };
  search.addEventListener('input', draw);
  section.append(
    ui.el('div', { class: 'toolbar' }, ui.el('label', { for: 'kernel-search' }, 'Search '), search),
    ui.el(
      'div',
      { class: 'scroll tall', tabindex: '0', role: 'region', 'aria-label': 'Table of kernels' },
      ui.el('table', { class: 'kernels' }, ui.el('thead', {}, ui.el('tr', {}, ...heads)), body),
    ),
    status,
  );
  if (bare.length > 0) {
    section.append(
      ui.el('p', { class: 'note' }, `Unknown for every kernel: ${bare.join(', ')}. The page of a kernel says why.`),
    );
  }
  draw();
  return section;
}

/** The parts of a kernel's page: its code, what it asks of the GPU, its metrics. */
export interface KernelViews {
  readonly charts: (ui: Ui, kernel: PageKernel) => HTMLElement;
  readonly metrics: (ui: Ui, kernel: PageKernel) => HTMLElement[];
  readonly listing: Listing;
  readonly sources: (ui: Ui, lines: PageTrace['lines']) => HTMLElement | undefined;
}

/** Draws the page of one kernel. */
export function kernelPage(
  ui: Ui,
  data: PageData,
  kernel: PageKernel,
  views: KernelViews,
  close: () => void,
): HTMLElement {
  const MAX_DISPATCHES = 200;
  const dims = (sizes: readonly number[]) => {
    const known = sizes.filter((n) => n >= 0);
    return known.length === 0 ? 'not recorded' : known.join(' × ');
  };
  const count = (n: number) => (n < 0 ? 'not recorded' : String(n));
  const section = ui.el(
    'section',
    { id: 'kernel', 'aria-labelledby': 'h-kernel', tabindex: '-1' },
    ui.el('h2', { id: 'h-kernel' }, 'Kernel ', ui.el('code', {}, kernel.name)),
    ...(kernel.symbol === null ? [] : [ui.el('p', { class: 'note' }, 'Symbol ', ui.el('code', {}, kernel.symbol))]),
    ui.el('button', { type: 'button', click: () => close() }, 'Back to all kernels'),
  );
  const tile = (label: string, value: Node | string) =>
    ui.el('div', { class: 'tile' }, ui.el('span', {}, label), value);
  const { leastNs, leastBy } = kernel.roofline;
  const counted = Object.values(kernel.counters).reduce((most, { dispatches }) => Math.max(most, dispatches), 0);
  const bounded =
    counted > 0 && counted < kernel.calls ? `${ui.count(counted)} of ${ui.count(kernel.calls)} calls` : 'the total';
  const facts: readonly (readonly [string, PageMeasure, (value: number) => string])[] = [
    ['Calls', { value: kernel.calls }, ui.count],
    ['Total', kernel.totalNs, ui.ns],
    ['Mean', kernel.meanNs, ui.ns],
    ['Min', kernel.minNs, ui.ns],
    ['Max', kernel.maxNs, ui.ns],
    ...(kernel.cyclesNs.value === undefined
      ? []
      : [['Mean by busy cycles (estimate)', kernel.cyclesNs, (v: number) => `about ${ui.ns(v)}`] as const]),
    ['Variation', kernel.variation, ui.percent],
    ['Gain if twice as fast', kernel.critical.gainIfTwiceAsFastNs, (v) => `at most ${ui.ns(v)}`],
    ['Headroom to the roofline', kernel.roofline.headroom, ui.percent],
    [
      `Lower bound of ${bounded}${leastBy === null ? '' : `: roof of ${leastBy}`}`,
      leastNs,
      (v) => `at least ${ui.ns(v)}`,
    ],
  ];
  const isKnown = ([, measure]: (typeof facts)[number]) => measure.value !== undefined;
  section.append(
    ui.el(
      'div',
      { class: 'tiles' },
      ...facts.filter(isKnown).map(([label, measure, format]) => tile(label, ui.measure(measure, format))),
    ),
  );
  const others = facts.filter((fact) => !isKnown(fact));
  if (others.length > 0) {
    const why = [...new Set(others.map(([, measure]) => measure.unknown ?? ''))].join('; ');
    section.append(
      ui.el('p', { class: 'note' }, `Unknown: ${others.map(([label]) => label.toLowerCase()).join(', ')} (${why}).`),
    );
  }
  const evidence = ui.el('div', {}, ui.el('h3', {}, 'Bottlenecks'));
  for (const found of kernel.bottleneck.classes) {
    evidence.append(
      ui.el(
        'article',
        { class: 'class' },
        ui.el('h4', {}, `${found.class} – confidence ${found.confidence.toFixed(2)}`),
        ui.el(
          'p',
          {},
          'Headroom: ',
          ui.measure(found.headroom, (v) => `at most ${ui.percent(v)} of the kernel's time`),
        ),
        ui.table(
          `Evidence for ${found.class}`,
          ['Metric', 'Value', 'Threshold'],
          found.evidence.map((e) => [
            e.metric,
            e.value.toPrecision(4),
            `${e.comparison} ${Number(e.threshold.toPrecision(3))}`,
          ]),
          [1],
        ),
        ui.el(
          'details',
          {},
          ui.el('summary', {}, 'Formulas, sources and what would refute it'),
          ui.el(
            'ul',
            {},
            ...found.evidence.map((e) => ui.el('li', {}, ui.el('code', {}, e.formula), ` – ${e.source}`)),
          ),
          ui.table(
            `What would refute ${found.class}`,
            ['Metric', 'Value', 'Refuted', 'Counters'],
            found.refutedBy.map((r) => [
              r.metric,
              r.value === null ? 'not measured' : r.value.toPrecision(4),
              `${r.comparison} ${Number(r.threshold.toPrecision(3))}`,
              ui.el('code', {}, r.formula),
            ]),
            [1],
          ),
        ),
      ),
    );
  }
  if (kernel.bottleneck.classes.length === 0) evidence.append(ui.el('p', { class: 'empty' }, 'No class has evidence.'));
  if (kernel.bottleneck.undecided.length > 0) {
    evidence.append(
      ui.el(
        'details',
        kernel.bottleneck.classes.length === 0 ? { open: '' } : {},
        ui.el('summary', {}, `${kernel.bottleneck.undecided.length} classes could not be judged`),
        ui.el('ul', {}, ...kernel.bottleneck.undecided.map((u) => ui.el('li', {}, `${u.class}: ${u.reason}`))),
      ),
    );
  }
  const o = kernel.occupancy;
  const occupancy = ui.el('div', {}, ui.el('h3', {}, 'Occupancy'));
  if (o.share.value === undefined)
    occupancy.append(ui.el('p', { class: 'empty' }, `Unknown: ${o.share.unknown ?? ''}.`));
  else {
    occupancy.append(
      ui.el(
        'p',
        {},
        `${o.wavesPerCu.value} of ${o.maxWavesPerCu.value} waves per CU in ${o.workgroupsPerCu.value} workgroups; limited by ${o.limiter ?? 'nothing'}.`,
      ),
    );
    for (const limit of o.limits) {
      occupancy.append(
        ui.bar(limit.wavesPerCu / (o.maxWavesPerCu.value ?? 1), `${limit.resource}: ${limit.wavesPerCu} waves`),
      );
    }
  }
  if (o.resident.value !== undefined) {
    occupancy.append(ui.el('p', {}, `Measured: ${o.resident.value.toFixed(1)} waves resident per CU.`));
  }
  section.append(ui.el('div', { class: 'columns' }, evidence, ui.el('div', {}, views.charts(ui, kernel), occupancy)));
  section.append(
    ui.table(
      'Launches',
      ['Calls', 'Workgroup', 'Grid (work-items)', 'LDS bytes', 'Scratch bytes', 'VGPRs', 'AGPRs', 'SGPRs'],
      kernel.launches.map((l) => [
        String(l.calls),
        dims(l.workgroup),
        dims(l.grid),
        count(l.lds),
        count(l.scratch),
        count(l.vgpr),
        count(l.agpr),
        count(l.sgpr),
      ]),
      [0, 3, 4, 5, 6, 7],
    ),
    ...views.metrics(ui, kernel),
    ui.el(
      'details',
      {},
      ui.el('summary', {}, `${Object.keys(kernel.counters).length} counters`),
      ui.table(
        'Counters',
        ['Counter', 'Sum', 'Dispatches'],
        Object.entries(kernel.counters).map(([name, c]) => [
          ui.el('code', {}, name),
          ui.num(c.sum),
          String(c.dispatches),
        ]),
        [1, 2],
      ),
    ),
  );
  const lines = data.traces.flatMap((trace) => trace.lines.filter((line) => line.kernel === kernel.name));
  if (lines.length > 0) {
    const sources = views.sources(ui, lines);
    if (sources !== undefined) section.append(sources);
    section.append(ui.el('h3', {}, 'Instructions'), views.listing(ui, lines, 'Instructions of this kernel'));
  }
  const dispatches = data.dispatches.shown.filter((one) => one.kernel === kernel.id);
  if (dispatches.length > 0) {
    const level = data.simulated ? 'Requested' : 'HBM';
    const point = (one: (typeof dispatches)[number]) => one.points.find((p) => p.level === level);
    const none: PageMeasure = { unknown: 'its counters were not collected, or it computes no FLOPs' };
    const shown = dispatches.slice(0, MAX_DISPATCHES);
    const hasPoints = shown.some((one) => point(one) !== undefined);
    const more = dispatches.length > shown.length ? `, ${shown.length} of ${dispatches.length}` : '';
    section.append(
      ui.table(
        `Dispatches${more}`,
        [
          'Id',
          'Queue',
          'Start',
          'Duration',
          ...(hasPoints ? [`FLOP/byte (${level})`, 'FLOP rate'] : []),
          ...(data.simulated ? ['Instructions', 'Wavefronts', "Simulator's own time"] : []),
        ],
        shown.map((one) => [
          String(one.id),
          one.queue,
          ui.measure(one.startNs, ui.ns),
          ui.measure(one.durationNs, ui.ns),
          ...(hasPoints
            ? [ui.measure(point(one)?.intensity ?? none, ui.num), ui.measure(point(one)?.gflops ?? none, ui.flops)]
            : []),
          ...(one.simulated === null
            ? []
            : [
                ui.num(one.simulated.instructions),
                ui.num(one.simulated.wavefronts),
                ui.ns(one.simulated.hostMs * 1e6),
              ]),
        ]),
        [0, 2, 3, 4, 5, 6, 7, 8],
      ),
    );
  }
  if (kernel.reported.length > 0) {
    section.append(
      ui.table(
        'As reported by rocprof-compute (no formula here uses these)',
        ['Table', 'Id', 'Metric', 'Statistic', 'Value', 'Unit'],
        kernel.reported
          .slice(0, 2000)
          .map((m) => [m.table, m.id, m.metric, m.statistic, String(Number(m.value.toPrecision(6))), m.unit]),
        [4],
      ),
    );
  }
  return section;
}
