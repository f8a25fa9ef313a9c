// The timeline of dispatches and copies with the critical path; zoom and pan by buttons, keys and wheel.
import type { PageData } from '../page-data.ts';
import type { Ui } from './ui.ts';

/** Draws the timeline section. */
export function timelineView(ui: Ui, data: PageData): HTMLElement {
  const path = data.criticalPath;
  const work = data.dependencyPath;
  const section = ui.el(
    'section',
    { id: 'timeline', 'aria-labelledby': 'h-timeline' },
    ui.el('h2', { id: 'h-timeline' }, work === null ? 'Critical path' : 'Dependencies'),
  );
  const tile = (label: string, value: HTMLElement) => ui.el('div', { class: 'tile' }, ui.el('span', {}, label), value);
  const amount = (value: number) => `${ui.num(value)} instructions`;
  const show = work === null ? ui.ns : amount;
  if (work === null) {
    section.append(
      ui.el(
        'div',
        { class: 'tiles' },
        tile('Span', ui.measure(path.spanNs, ui.ns)),
        tile('Critical path', ui.measure(path.lengthNs, ui.ns)),
        tile('GPU work', ui.measure(path.busyNs, ui.ns)),
        tile('GPU idle', ui.measure(path.gapNs, ui.ns)),
        tile('Overlapped', ui.measure(path.overlapNs, ui.ns)),
      ),
      ui.el(
        'p',
        { class: 'note' },
        `${path.edges.queueOrder} edges from queue order, ${path.edges.recorded} recorded, ${path.edges.inferred} inferred from timestamps.`,
      ),
    );
  } else {
    section.append(
      ui.el(
        'div',
        { class: 'tiles' },
        tile('Longest chain', ui.el('span', {}, amount(work.length))),
        tile('All work', ui.el('span', {}, amount(work.work))),
      ),
      ui.el(
        'p',
        { class: 'note' },
        `Lengths are executed instructions, not time: every dispatch stands as early as what it depends on allows. ${work.edges.queueOrder} edges from queue order, ${work.edges.recorded} from signals.`,
      ),
    );
  }
  const items =
    work === null ? path.timeline : work.timeline.map((one) => ({ ...one, kind: 'dispatch', duration: one.length }));
  const nodes = work === null ? path.nodes : work.nodes;
  if (items.length === 0) {
    section.append(ui.el('p', { class: 'empty' }, `No timeline: ${path.spanNs.unknown ?? 'nothing was recorded'}.`));
    return section;
  }
  if (items.length < nodes) {
    section.append(
      ui.el(
        'p',
        { class: 'note' },
        `Drawn one by one: the critical path and the longest work, ${items.length} of ${nodes}. The shade behind shows how busy each lane is with all of it.`,
      ),
    );
  }
  const lanes = [...new Set(items.map((item) => item.lane))].slice(0, 64);
  const [W, L, ROW] = [1000, 170, 26];
  const H = lanes.length * ROW + 30;
  const end = items.reduce((max, item) => Math.max(max, item.start + item.duration), 1);
  let from = 0;
  let width = end;
  const root = ui.svg('svg', {
    viewBox: `0 0 ${W} ${H}`,
    tabindex: 0,
    role: 'group',
    'aria-label': 'Timeline; plus and minus zoom, arrow keys move',
    class: 'timeline',
  });
  const draw = () => {
    root.replaceChildren();
    const px = (t: number) => L + ((t - from) / width) * (W - L - 8);
    lanes.forEach((lane, i) => {
      root.append(
        ui.svg(
          'text',
          { x: L - 8, y: i * ROW + 17, 'text-anchor': 'end' },
          lane.length > 24 ? `…${lane.slice(-23)}` : lane,
        ),
      );
      root.append(ui.svg('line', { x1: L, x2: W - 8, y1: (i + 1) * ROW, y2: (i + 1) * ROW, class: 'grid' }));
    });
    // All work, drawn one by one or not, as the height of its share of time.
    for (const { lane, busy } of work === null ? path.density : []) {
      const row = lanes.indexOf(lane);
      if (row < 0) continue;
      const each = end / busy.length;
      let shape = '';
      busy.forEach((share, i) => {
        if (share === 0 || (i + 1) * each < from || i * each > from + width) return;
        const left = Math.max(L, px(i * each));
        const right = Math.min(W - 8, px((i + 1) * each));
        const high = ((ROW - 8) * share) / 255;
        shape += `M${left.toFixed(2)} ${row * ROW + ROW - 4}v${(-high).toFixed(2)}H${right.toFixed(2)}v${high.toFixed(2)}Z`;
      });
      root.append(ui.svg('path', { d: shape, class: 'density' }));
    }
    for (const item of items) {
      const lane = lanes.indexOf(item.lane);
      if (lane < 0 || item.start + item.duration < from || item.start > from + width) continue;
      const left = Math.max(L, px(item.start));
      const right = Math.min(W - 8, px(item.start + item.duration));
      const rect = ui.svg('rect', {
        x: left,
        y: lane * ROW + 4,
        width: Math.max(0.8, right - left),
        height: ROW - 8,
        class: `${item.kind}${item.critical ? ' critical' : ''}`,
      });
      ui.tip(
        rect,
        () =>
          `${item.symbol}\n${show(item.duration)} at ${show(item.start)}\n${item.critical ? 'on the longest path' : `slack ${show(item.slack)}`}`,
      );
      root.append(rect);
      if (right - left > 60) {
        const text = ui.svg(
          'text',
          { x: left + 4, y: lane * ROW + 17, class: 'bar-label' },
          item.symbol.slice(0, Math.floor((right - left - 8) / 7.5)),
        );
        root.append(text);
      }
    }
    for (let i = 0; i <= 5; i++) {
      const t = from + (width * i) / 5;
      root.append(
        ui.svg(
          'text',
          { x: px(t), y: H - 8, 'text-anchor': i === 0 ? 'start' : i === 5 ? 'end' : 'middle' },
          work === null ? ui.ns(t) : ui.num(t),
        ),
      );
    }
  };
  const zoom = (factor: number, around = from + width / 2) => {
    const next = Math.max(end / 1e6, Math.min(end, width * factor));
    from = Math.max(0, Math.min(end - next, around - ((around - from) / width) * next));
    width = next;
    draw();
  };
  const move = (share: number) => {
    from = Math.max(0, Math.min(end - width, from + share * width));
    draw();
  };
  const keys: Record<string, () => void> = {
    '+': () => zoom(0.5),
    '=': () => zoom(0.5),
    '-': () => zoom(2),
    ArrowLeft: () => move(-0.2),
    ArrowRight: () => move(0.2),
    '0': () => zoom(1e9),
  };
  root.addEventListener('keydown', (event) => {
    const act = keys[(event as KeyboardEvent).key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
  root.addEventListener(
    'wheel',
    (event) => {
      const wheel = event as WheelEvent;
      if (!wheel.ctrlKey && !wheel.shiftKey) return;
      event.preventDefault();
      const box = root.getBoundingClientRect();
      zoom(
        wheel.deltaY > 0 ? 1.25 : 0.8,
        from + (((wheel.clientX - box.left) / box.width) * W - L) * (width / (W - L - 8)),
      );
    },
    { passive: false },
  );
  const button = (label: string, name: string, act: () => void) =>
    ui.el('button', { type: 'button', 'aria-label': name, click: act }, label);
  section.append(
    ui.el(
      'div',
      { class: 'toolbar' },
      button('+', 'Zoom in', () => zoom(0.5)),
      button('−', 'Zoom out', () => zoom(2)),
      button('←', 'Earlier', () => move(-0.2)),
      button('→', 'Later', () => move(0.2)),
      button('All', 'Whole span', () => zoom(1e9)),
      ui.el('span', { class: 'key critical-key' }, 'critical path'),
      ui.el('span', { class: 'key dispatch-key' }, 'dispatch'),
      ui.el('span', { class: 'key copy-key' }, 'copy'),
    ),
    ui.el('div', { class: 'chart' }, root),
  );
  draw();
  return section;
}
