// The roofline plot: log-log, every known ceiling, a point per kernel and memory level, sized by time; when asked, a point per
// dispatch. A kernel whose rate is unknown stands as a line at its intensity; one without FLOPs, or whose FLOPs are unknown, stands at the left
// edge below the roofs of its memory levels.
import type { PageData } from '../page-data.ts';
import type { Ui } from './ui.ts';

/** Draws the roofline section. */
export function rooflineView(ui: Ui, data: PageData, open: (kernel: number) => void): HTMLElement {
  const section = ui.el(
    'section',
    { id: 'roofline', 'aria-labelledby': 'h-roofline' },
    ui.el('h2', { id: 'h-roofline' }, 'Roofline'),
  );
  const sets = data.roofline.ceilings;
  const levels = ['HBM', 'L2', 'L1', 'LDS', ...(data.simulated ? ['Requested'] : [])];
  const points = data.kernels.flatMap((kernel) =>
    kernel.roofline.points.flatMap((point) => {
      const x = point.intensity.value;
      const y = kernel.roofline.gflops.value;
      return x !== undefined && y !== undefined && x > 0 && y > 0 ? [{ kernel, point, x, y }] : [];
    }),
  );
  const single = data.dispatches.shown
    .filter((one) => one.kernel >= 0)
    .flatMap((one) =>
      one.points.flatMap((point) => {
        const [x, y] = [point.intensity.value, point.gflops.value];
        return x !== undefined && y !== undefined && x > 0 && y > 0 ? [{ one, point, x, y }] : [];
      }),
    );
  /** Kernels whose intensity is known and whose rate is not. */
  const lines = data.kernels.flatMap((kernel) =>
    kernel.roofline.gflops.value !== undefined
      ? []
      : kernel.roofline.points.flatMap((point) => {
          const x = point.intensity.value;
          return x !== undefined && x > 0 ? [{ kernel, point, x }] : [];
        }),
  );
  /** Kernels that have no place by FLOPs, with the bandwidths they reach. */
  const edge = data.kernels.flatMap((kernel) =>
    points.some((p) => p.kernel === kernel) || lines.some((l) => l.kernel === kernel)
      ? []
      : kernel.roofline.points.flatMap((point) => {
          const rate = point.bandwidth.value;
          return rate !== undefined && rate > 0 ? [{ kernel, point, rate }] : [];
        }),
  );
  const hidden = data.kernels.filter(
    (kernel) => ![...points, ...lines, ...edge].some((placed) => placed.kernel === kernel),
  );
  const choice = ui.el('select', { id: 'roof-set' });
  sets.forEach((set, i) => {
    choice.append(
      ui.el('option', { value: String(i) }, `${set.agent} (${set.kind === 'chip' ? 'from clocks' : 'measured'})`),
    );
  });
  if (sets.length > 1) section.append(ui.el('label', { for: 'roof-set' }, 'Ceilings: '), choice);
  const each = ui.el('input', { type: 'checkbox', id: 'each-dispatch' }) as HTMLInputElement;
  if (single.length > 0) {
    section.append(
      ui.el(
        'div',
        { class: 'toolbar' },
        each,
        ui.el('label', { for: 'each-dispatch' }, `Each dispatch (${single.length} points)`),
      ),
    );
  }
  const holder = ui.el('div', {
    class: 'chart',
    tabindex: '0',
    role: 'group',
    'aria-label': 'Drawing of the roofline',
  });
  section.append(holder);

  const draw = (index: number) => {
    const roofs = (list: PageData['roofline']['ceilings'][number]['bandwidths']) =>
      list.flatMap((roof) => (roof.peak.value === undefined ? [] : [{ ...roof, value: roof.peak.value }]));
    const bandwidths = sets[index] === undefined ? [] : roofs(sets[index].bandwidths);
    const rates = sets[index] === undefined ? [] : roofs(sets[index].rates);
    holder.replaceChildren();
    if (bandwidths.length + rates.length === 0 && points.length + lines.length === 0) {
      const why = sets.flatMap((s) => s.bandwidths).find((roof) => roof.peak.unknown !== undefined)?.peak.unknown;
      holder.append(ui.el('p', { class: 'empty' }, `No ceiling is known${why === undefined ? '' : `: ${why}`}.`));
      return;
    }
    const [W, H, L, R, T, B] = [900, 470, 104, 16, 14, 48];
    const dots = each.checked ? single : [];
    const all = [...points, ...dots];
    const top = all.reduce((max, p) => Math.max(max, p.y), Math.max(...rates.map((r) => r.value), 1)) * 2;
    const xs = [...all, ...lines].map((p) => p.x);
    const x0 = 10 ** Math.floor(Math.log10(xs.reduce((min, x) => Math.min(min, x), 0.01)));
    const x1 = 10 ** Math.ceil(Math.log10(xs.reduce((max, x) => Math.max(max, x), 1000)));
    const floor = Math.min(...bandwidths.map((b) => b.value * x0 * 4), top / 1e3);
    const ys = [...all.map((p) => p.y), ...edge.map((p) => p.rate * x0)];
    const low = ys.reduce((min, y) => Math.min(min, y / 2), floor);
    const y0 = 10 ** Math.floor(Math.log10(low));
    const px = (x: number) => L + ((Math.log10(x) - Math.log10(x0)) / (Math.log10(x1) - Math.log10(x0))) * (W - L - R);
    const py = (y: number) =>
      H - B - ((Math.log10(y) - Math.log10(y0)) / (Math.log10(top) - Math.log10(y0))) * (H - T - B);
    const root = ui.svg('svg', { viewBox: `0 0 ${W} ${H}`, role: 'group', 'aria-label': 'Roofline plot' });
    for (let x = x0; x <= x1 * 1.001; x *= 10) {
      root.append(ui.svg('line', { x1: px(x), x2: px(x), y1: T, y2: H - B, class: 'grid' }));
      root.append(
        ui.svg(
          'text',
          { x: px(x), y: H - B + 18, 'text-anchor': 'middle' },
          x < 1 ? String(Number(x.toPrecision(1))) : ui.num(x),
        ),
      );
    }
    for (let y = y0; y <= top; y *= 10) {
      root.append(ui.svg('line', { x1: L, x2: W - R, y1: py(y), y2: py(y), class: 'grid' }));
      root.append(ui.svg('text', { x: L - 8, y: py(y) + 4, 'text-anchor': 'end' }, ui.flops(y)));
    }
    root.append(
      ui.svg('text', { x: (L + W - R) / 2, y: H - 8, 'text-anchor': 'middle', class: 'axis' }, 'FLOP per byte'),
    );
    const highest = Math.max(...rates.map((r) => r.value), 0) || top;
    for (const [i, roof] of bandwidths.entries()) {
      const from = Math.max(x0, y0 / roof.value);
      const to = Math.min(x1, highest / roof.value);
      if (to <= from) continue;
      const line = ui.svg('line', {
        x1: px(from),
        y1: py(from * roof.value),
        x2: px(to),
        y2: py(to * roof.value),
        class: `roof level-${levels.indexOf(roof.id)}`,
      });
      ui.tip(line, () => `${roof.label}: ${ui.bandwidth(roof.value)}\n${roof.source}`);
      root.append(line);
      // Levels may have the same bandwidth, so the labels are spread along the lines.
      const at = from * (to / from) ** (0.15 + 0.17 * i);
      const angle = (-Math.atan2(py(from * roof.value) - py(to * roof.value), px(to) - px(from)) * 180) / Math.PI;
      root.append(
        ui.svg(
          'text',
          { class: 'roof-label', transform: `translate(${px(at)} ${py(at * roof.value) - 5}) rotate(${angle})` },
          `${roof.label} ${ui.bandwidth(roof.value)}`,
        ),
      );
    }
    let lastLabel = Number.NEGATIVE_INFINITY;
    for (const rate of [...rates].sort((a, b) => a.value - b.value)) {
      const from = Math.max(x0, Math.min(x1, ...bandwidths.map((b) => rate.value / b.value)));
      const line = ui.svg('line', {
        x1: px(from),
        x2: W - R,
        y1: py(rate.value),
        y2: py(rate.value),
        class: 'roof rate',
      });
      // Integers have operations, which are no FLOPs.
      const peak = /\bI8\b/.test(rate.label) ? ui.flops(rate.value).replace('FLOP', 'OP') : ui.flops(rate.value);
      ui.tip(line, () => `${rate.label}: ${peak}\n${rate.source}`);
      root.append(line);
      const y = py(rate.value) - 4;
      if (Math.abs(y - lastLabel) < 13) continue;
      lastLabel = y;
      root.append(
        ui.svg('text', { x: W - R - 4, y, 'text-anchor': 'end', class: 'roof-label' }, `${rate.label} ${peak}`),
      );
    }
    for (const { kernel, point, x } of lines) {
      const text = () =>
        `${kernel.name}\n${point.level}: ${ui.num(x)} FLOP/byte; the rate is unknown (${kernel.roofline.gflops.unknown ?? ''})`;
      const line = ui.svg('line', {
        x1: px(x),
        x2: px(x),
        y1: T,
        y2: H - B,
        class: `intensity level-${Math.max(0, levels.indexOf(point.level))}`,
        tabindex: 0,
        role: 'button',
        'aria-label': text(),
      });
      line.addEventListener('click', () => open(kernel.id));
      line.addEventListener('keydown', (event) => {
        if ((event as KeyboardEvent).key === 'Enter') open(kernel.id);
      });
      ui.tip(line, text);
      root.append(line);
    }
    for (const p of [...points].sort((a, b) => (b.kernel.share.value ?? 0) - (a.kernel.share.value ?? 0))) {
      const text = () =>
        `${p.kernel.name}\n${p.point.level}: ${ui.num(p.x)} FLOP/byte, ${ui.flops(p.y)}\n` +
        `${ui.show(p.point.bandwidth, ui.bandwidth)}, ${ui.show(p.point.ofPeak, ui.percent)} of the ${p.point.level} peak`;
      const dot = ui.svg('circle', {
        cx: px(p.x),
        cy: py(p.y),
        r: 4 + 12 * Math.sqrt(p.kernel.share.value ?? 0),
        class: `dot level-${levels.indexOf(p.point.level)}`,
        tabindex: 0,
        role: 'button',
        'aria-label': text(),
      });
      dot.addEventListener('click', () => open(p.kernel.id));
      dot.addEventListener('keydown', (event) => {
        if ((event as KeyboardEvent).key === 'Enter' || (event as KeyboardEvent).key === ' ') {
          event.preventDefault();
          open(p.kernel.id);
        }
      });
      ui.tip(dot, text);
      root.append(dot);
    }
    for (const { kernel, point, rate } of edge) {
      const none =
        kernel.roofline.flops.value === 0
          ? 'it computes no FLOPs'
          : `its FLOPs are unknown (${kernel.roofline.flops.unknown ?? kernel.roofline.gflops.unknown ?? ''})`;
      const text = () =>
        `${kernel.name}\n${point.level}: ${ui.bandwidth(rate)}, ${ui.show(point.ofPeak, ui.percent)} of the ${point.level} peak; ${none}`;
      const y = py(rate * x0);
      const mark = ui.svg('path', {
        d: `M${L} ${y}l14 -7v14Z`,
        class: `dot level-${Math.max(0, levels.indexOf(point.level))}`,
        tabindex: 0,
        role: 'button',
        'aria-label': text(),
      });
      mark.addEventListener('click', () => open(kernel.id));
      mark.addEventListener('keydown', (event) => {
        if ((event as KeyboardEvent).key === 'Enter') open(kernel.id);
      });
      ui.tip(mark, text);
      root.append(mark);
    }
    for (const { one, point, x, y } of dots) {
      const dot = ui.svg('circle', {
        cx: px(x),
        cy: py(y),
        r: 3,
        class: `one level-${levels.indexOf(point.level)}`,
      });
      const name = data.kernels.find((kernel) => kernel.id === one.kernel)?.name ?? '';
      ui.tip(
        dot,
        () =>
          `${name}, dispatch ${one.id}\n${point.level}: ${ui.num(x)} FLOP/byte, ${ui.flops(y)}\n${ui.show(one.durationNs, ui.ns)}`,
      );
      dot.addEventListener('click', () => open(one.kernel));
      root.append(dot);
    }
    holder.append(root);
    const legend = ui.el('ul', { class: 'legend' });
    levels.forEach((level, i) => {
      // A colour that nothing is drawn in looks like a roof that was forgotten.
      if (root.querySelector(`.level-${i}`) === null) return;
      legend.append(ui.el('li', {}, ui.el('span', { class: `swatch level-${i}`, 'aria-hidden': 'true' }), level));
    });
    if (edge.length > 0) legend.append(ui.el('li', {}, '◀ at the left edge: no FLOPs, or unknown ones'));
    holder.append(legend);
  };
  choice.addEventListener('change', () => draw(Number((choice as HTMLSelectElement).value)));
  each.addEventListener('change', () => draw(Number((choice as HTMLSelectElement).value)));
  // What was measured on the machine goes before what its clocks allow.
  const measured = sets.findIndex((set) => set.kind === 'measured' && set.bandwidths.length > 0);
  const chosen = Math.max(0, measured);
  (choice as HTMLSelectElement).value = String(chosen);
  draw(chosen);
  if (hidden.length > 0) {
    const reason = (kernel: (typeof hidden)[number]) => {
      const r = kernel.roofline;
      if (r.flops.value === 0) return 'it computes no FLOPs, and its bandwidths are unknown';
      return r.flops.unknown ?? r.gflops.unknown ?? r.points[0]?.intensity.unknown ?? 'not enough counters';
    };
    section.append(
      ui.el(
        'details',
        {},
        ui.el('summary', {}, `Not on the plot: ${hidden.length} of ${data.kernels.length}`),
        ui.el(
          'ul',
          {},
          ...hidden
            .slice(0, 100)
            .map((kernel) => ui.el('li', {}, ui.el('code', {}, kernel.name), `: ${reason(kernel)}`)),
        ),
      ),
    );
  }
  return section;
}
