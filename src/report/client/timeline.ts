// The timeline of dispatches and copies with the critical path; zoom and pan by buttons, keys and wheel.
import type { PageData } from '../page-data.ts';
import type { counterTracks } from './tracks.ts';
import type { Ui } from './ui.ts';
import type { WorkStore } from './work.ts';

/** Draws the timeline section. */
export function timelineView(
  ui: Ui,
  data: PageData,
  all: WorkStore | undefined,
  drawTracks: typeof counterTracks,
): HTMLElement {
  const path = data.criticalPath;
  // Modelled times make a timeline like measured ones; without times there is the order of the work.
  const work = path.spanNs.value === undefined ? data.dependencyPath : null;
  const section = ui.el(
    'section',
    { id: 'timeline', 'aria-labelledby': 'h-timeline' },
    ui.el('h2', { id: 'h-timeline' }, work === null ? 'Critical path' : 'Dependencies'),
  );
  const tile = (label: string, value: HTMLElement) => ui.el('div', { class: 'tile' }, ui.el('span', {}, label), value);
  const amount = (value: number) => `${ui.num(value)} instructions`;
  const show = work === null ? ui.ns : amount;
  if (work === null) {
    const facts = [
      ['Span', path.spanNs],
      ['Critical path', path.lengthNs],
      ['GPU work', path.busyNs],
      ['GPU idle', path.gapNs],
      ['Overlapped', path.overlapNs],
    ] as const;
    // What is unknown does not lead.
    const inOrder = [
      ...facts.filter(([, m]) => m.value !== undefined),
      ...facts.filter(([, m]) => m.value === undefined),
    ];
    if (path.timeline.length === 0 && facts.every(([, m]) => m.value === undefined)) {
      section.append(ui.el('p', { class: 'empty' }, `No timeline: ${path.spanNs.unknown ?? 'nothing was recorded'}.`));
      return section;
    }
    section.append(
      ui.el('div', { class: 'tiles' }, ...inOrder.map(([label, m]) => tile(label, ui.measure(m, ui.ns)))),
      ui.el(
        'p',
        { class: 'note' },
        `${ui.count(path.edges.queueOrder)} edges from queue order, ${ui.count(path.edges.recorded)} recorded, ${ui.count(path.edges.inferred)} inferred from timestamps.`,
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
        all === undefined
          ? `Drawn one by one: the critical path and the longest work, ${items.length} of ${nodes}. The shade behind shows how busy each lane is with all of it.`
          : `From far, the shade shows how busy each lane is, and how much of that is on the critical path. Closer, each of the ${ui.count(nodes)} pieces of work is drawn.`,
      ),
    );
  }
  const store = work === null ? all : undefined;
  const MOST_LANES = 64;
  const laneSet = new Map(items.map((item) => [item.lane, item.kind]));
  for (const [i, lane] of (store?.lanes ?? []).entries()) laneSet.set(lane, store?.kinds[i] ?? '');
  const rank = (kind: string | undefined) => ['dispatch', 'copy', 'call'].indexOf(kind ?? '');
  const allLanes = [...laneSet.keys()].sort(
    (a, b) => rank(laneSet.get(a)) - rank(laneSet.get(b)) || a.localeCompare(b, 'en', { numeric: true }),
  );
  const lanes = allLanes.slice(0, MOST_LANES);
  if (allLanes.length > MOST_LANES) {
    section.append(
      ui.el('p', { class: 'note' }, `Of ${allLanes.length} lanes, ${MOST_LANES} are drawn. The exports have all.`),
    );
  }
  const [L, ROW, MOST] = [170, 26, 3000];
  /** Units of the drawing from side to side, at most and at least: narrow windows have fewer, so that letters stay as large and all of it is in sight. */
  const [WIDEST, NARROWEST] = [1000, 400];
  let W = WIDEST;
  /** Units from which on a bar has an edge, and from arrow to arrow where they can be told apart. */
  const [EDGED, APART] = [6, 13];
  const hint = ui.el('p', { class: 'note' }, 'Zoom in to see the arrows along the critical path.');
  const tracks = work === null ? data.dispatches.tracks : [];
  const TRACK = 44;
  const countedOf = (kernel: (typeof data.kernels)[number]) =>
    Object.values(kernel.counters).reduce((max, { dispatches }) => Math.max(max, dispatches), 0);
  const counted = data.kernels.reduce((sum, kernel) => sum + countedOf(kernel), 0);
  const tracked = tracks.reduce((max, { points }) => Math.max(max, points.length), 0);
  const H = lanes.length * ROW + tracks.length * TRACK + 30;
  const last = items.reduce((max, item) => Math.max(max, item.start + item.duration), 1);
  const [begin, end] =
    store === undefined ? [0, last] : [Math.min(0, store.span()[0]), Math.max(last, store.span()[1])];
  const span = end - begin;
  let from = begin;
  let width = span;
  // On the critical path are those of the document; times of the packed work are whole nanoseconds.
  const keyOf = (lane: string, start: number) => `${lane} ${Math.round(start)}`;
  const listed = new Map(items.map((item) => [keyOf(item.lane, item.start), item]));
  const root = ui.svg('svg', {
    viewBox: `0 0 ${W} ${H}`,
    tabindex: 0,
    role: 'group',
    'aria-label': 'Timeline; plus and minus zoom, arrow keys move',
    class: 'timeline',
  });
  const laneName = (lane: string) => {
    const name = lane.replace(/HOST_TO_DEVICE/, 'to device').replace(/DEVICE_TO_HOST/, 'to host');
    return name.length > 24 ? `…${name.slice(-23)}` : name;
  };
  // A letter of the page's font is at most 7 units wide on average.
  const shorten = (name: string, wide: number) =>
    name.length * 7 <= wide ? name : `${name.slice(0, Math.max(1, Math.floor(wide / 7) - 1))}…`;
  const draw = () => {
    root.replaceChildren();
    const px = (t: number) => L + ((t - from) / width) * (W - L - 8);
    lanes.forEach((lane, i) => {
      root.append(ui.svg('text', { x: L - 8, y: i * ROW + 17, 'text-anchor': 'end' }, laneName(lane)));
      root.append(ui.svg('line', { x1: L, x2: W - 8, y1: (i + 1) * ROW, y2: (i + 1) * ROW, class: 'grid' }));
      // An empty lane must not look idle where its calls are only in the sums.
      const until = store?.until.get(lane);
      if (until !== undefined && until < from + width) {
        const x = Math.max(L, px(until));
        const y = i * ROW + ROW / 2;
        const label = 'later calls are in the sums only';
        root.append(ui.svg('line', { x1: x, x2: W - 8, y1: y, y2: y, class: 'undrawn' }));
        if (W - 8 - x > 7 * label.length) {
          root.append(ui.svg('text', { x: x + 8, y: i * ROW + 10, class: 'bar-label' }, label));
        }
      }
    });
    // All work, drawn one by one or not, as the height of its share of time.
    const near = store?.within(from, from + width, MOST);
    if (near === undefined) {
      // Of the critical path only the upper edge is drawn: where it lies on that of all work, all work is critical.
      const shade = (
        lane: string,
        busy: ArrayLike<number>,
        full: number,
        first: number,
        each: number,
        isEdge = false,
      ) => {
        const row = lanes.indexOf(lane);
        if (row < 0) return;
        let shape = '';
        for (let i = 0; i < busy.length; i++) {
          const start = first + i * each;
          if (busy[i] === 0 || start + each < from || start > from + width) continue;
          const left = Math.max(L, px(start));
          const right = Math.min(W - 8, px(start + each));
          const high = (ROW - 8) * Math.min(1, busy[i] / full);
          const [x, y] = [left.toFixed(2), row * ROW + ROW - 4];
          shape += isEdge
            ? `M${x} ${(y - high).toFixed(2)}H${right.toFixed(2)}`
            : `M${x} ${y}v${(-high).toFixed(2)}H${right.toFixed(2)}v${high.toFixed(2)}Z`;
        }
        const kind = laneSet.get(lane) ?? '';
        if (shape !== '')
          root.append(ui.svg('path', { d: shape, class: isEdge ? 'edge-critical' : `density ${kind}` }));
      };
      if (store !== undefined) {
        const pieces = W - L - 8;
        for (const [lane, busy] of store.busy(from, from + width, pieces)) shade(lane, busy, 1, from, width / pieces);
        for (const [lane, busy] of store.busy(from, from + width, pieces, true)) {
          shade(lane, busy, 1, from, width / pieces, true);
        }
      } else if (work === null) {
        for (const { lane, busy } of path.density) shade(lane, busy, 255, 0, last / busy.length);
      }
    }
    const places = new Map<number, readonly [number, number, number]>();
    // Where shares of all work are drawn, only what is wide enough to be seen stands before them: the others are in the shares.
    const seen = (one: { readonly duration: number }) =>
      store === undefined || (one.duration / width) * (W - L - 8) >= 1;
    let onPath = '';
    for (const one of near ?? items.filter(seen)) {
      const item = listed.get(keyOf(one.lane, one.start));
      const lane = lanes.indexOf(one.lane);
      if (lane < 0 || one.start + one.duration < from || one.start > from + width) continue;
      const left = Math.max(L, px(one.start));
      const right = Math.min(W - 8, px(one.start + one.duration));
      const isCritical = one.critical;
      const wide = Math.max(0.8, right - left);
      // An edge around a narrow bar would cover it.
      const isEdged = isCritical && wide >= EDGED;
      const rect = ui.svg('rect', {
        x: left,
        y: lane * ROW + 4,
        width: wide,
        height: ROW - 8,
        class: `${one.kind}${isCritical ? ' critical' : ''}${isCritical && !isEdged ? ' narrow' : ''}`,
      });
      const place = item === undefined ? '' : isCritical ? '\non the longest path' : `\nslack ${show(item.slack)}`;
      ui.tip(rect, () => `${one.symbol}\n${show(one.duration)} at ${show(one.start)}${place}`);
      root.append(rect);
      if (isCritical && !isEdged)
        onPath += `M${left.toFixed(2)} ${lane * ROW + 2}h${wide.toFixed(2)}v3h${-wide.toFixed(2)}Z`;
      if (right - left > 60) {
        const text = ui.svg(
          'text',
          { x: left + 4, y: lane * ROW + 17, class: 'bar-label' },
          shorten(one.symbol, right - left - 8),
        );
        root.append(text);
      }
      if (isCritical && item !== undefined && 'node' in item) places.set(item.node, [left, right, lane]);
    }
    if (onPath !== '') root.append(ui.svg('path', { d: onPath, class: 'on-path' }));
    // Arrows along the critical path, from the end of what comes before to the start of what waits for it.
    let [arrows, drawn, leftmost, rightmost] = ['', 0, W, 0];
    for (const item of work === null ? path.timeline : []) {
      const to = places.get(item.node);
      if (to === undefined) continue;
      for (const before of [item.after, item.inferredAfter]) {
        const at = places.get(before);
        if (at === undefined || (at[2] === to[2] && to[0] - at[1] < 6)) continue;
        drawn++;
        const [x, y] = [to[0], to[2] * ROW + ROW / 2];
        [leftmost, rightmost] = [Math.min(leftmost, x), Math.max(rightmost, x)];
        arrows += `M${at[1].toFixed(1)} ${at[2] * ROW + ROW / 2}L${x.toFixed(1)} ${y}M${(x - 5).toFixed(1)} ${y - 3}L${x.toFixed(1)} ${y}L${(x - 5).toFixed(1)} ${y + 3}`;
      }
    }
    // So many arrows would hide the bars: from far, the red edge shows the path.
    const areApart = (drawn - 1) * APART <= rightmost - leftmost;
    if (arrows !== '' && areApart) root.append(ui.svg('path', { d: arrows, class: 'arrow' }));
    hint.hidden = drawn === 0 || areApart;
    const place = { left: L, right: W - 8, top: lanes.length * ROW, height: TRACK };
    drawTracks(ui, root, tracks, place, [from, from + width]);
    root.dataset.pieces = String(near?.length ?? -1);
    for (const [t, label] of ui.ticks(from, from + width, Math.floor((W - L) / 130))) {
      const x = px(t);
      const anchor = x < L + 40 ? 'start' : x > W - 48 ? 'end' : 'middle';
      root.append(
        ui.svg('line', { x1: x, x2: x, y1: H - 26, y2: H - 21, class: 'grid' }),
        ui.svg('text', { x, y: H - 8, 'text-anchor': anchor }, work === null ? label : ui.num(t)),
      );
    }
  };
  const zoom = (factor: number, around = from + width / 2) => {
    const next = Math.max(Math.min(span, 100), Math.min(span, width * factor));
    from = Math.max(begin, Math.min(end - next, around - ((around - from) / width) * next));
    width = next;
    draw();
  };
  const move = (share: number) => {
    from = Math.max(begin, Math.min(end - width, from + share * width));
    draw();
  };
  const keys: Record<string, () => void> = {
    '+': () => zoom(0.5),
    '=': () => zoom(0.5),
    '-': () => zoom(2),
    ArrowLeft: () => move(-0.2),
    ArrowRight: () => move(0.2),
    '0': () => zoom(1e18),
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
  if (store !== undefined && store.omittedCalls > 0) {
    section.append(
      ui.el('p', { class: 'note' }, `${ui.num(store.omittedCalls)} more API calls are only in the table of calls.`),
    );
  }
  // A few may lack what a track needs; where many do, some of the dispatches were chosen.
  if (tracked > 1000 && tracked < 0.9 * counted) {
    const text = `The tracks of counters show ${ui.count(tracked)} of the ${ui.count(counted)} dispatches that have counters.`;
    section.append(ui.el('p', { class: 'note' }, text));
  }
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
      button('All', 'Whole span', () => zoom(1e18)),
      ui.el('span', { class: 'key critical-key' }, 'critical path'),
      ui.el('span', { class: 'key dispatch-key' }, 'dispatch'),
      ui.el('span', { class: 'key copy-key' }, 'copy'),
      ui.el('span', { class: 'key call-key' }, 'API call or marker'),
      tracks.length === 0 ? undefined : ui.el('span', { class: 'key track-key' }, 'counters of a dispatch'),
    ),
    ui.el('div', { class: 'chart' }, root),
    hint,
  );
  draw();
  /** Pixels of a unit where there are as few as that: those of the smallest letters are 9 then. */
  const SMALLEST = 0.85;
  const fit = () => {
    const wide = Math.round(Math.max(NARROWEST, Math.min(WIDEST, root.clientWidth / SMALLEST)));
    if (root.clientWidth === 0 || wide === W) return;
    W = wide;
    root.setAttribute('viewBox', `0 0 ${W} ${H}`);
    draw();
  };
  new ResizeObserver(fit).observe(root);
  return section;
}
