// Thread traces: annotated instructions with heat, cycles by class, resident waves, wave timelines; PC samples.
import type { PageData, PageTrace } from '../page-data.ts';
import type { Ui } from './ui.ts';

/** Draws the trace section. */
export function traceView(ui: Ui, data: PageData): HTMLElement {
  const MAX_LINES = 3000;
  const section = ui.el(
    'section',
    { id: 'traces', 'aria-labelledby': 'h-traces' },
    ui.el('h2', { id: 'h-traces' }, 'Instructions'),
  );
  const traces = data.traces.filter((t) => t.lines.length > 0 || t.waves.length > 0 || t.residency.length > 0);
  if (traces.length === 0 && data.samples.length === 0) {
    section.append(ui.el('p', { class: 'empty' }, 'No thread trace and no PC samples were recorded.'));
    return section;
  }
  const waveTimeline = (trace: PageTrace): HTMLElement | undefined => {
    if (trace.waves.length === 0) return undefined;
    const [W, L, ROW] = [1000, 150, 18];
    const waves = trace.waves.slice(0, 32);
    const begin = Math.min(...waves.map((w) => w.begin));
    const end = Math.max(...waves.map((w) => w.end), begin + 1);
    const root = ui.svg('svg', {
      viewBox: `0 0 ${W} ${waves.length * ROW + 22}`,
      role: 'img',
      'aria-label': 'States of the traced waves',
    });
    const px = (t: number) => L + ((t - begin) / (end - begin)) * (W - L - 8);
    waves.forEach((wave, i) => {
      const name = `SE${wave.shaderEngine} CU${wave.cu} SIMD${wave.simd} slot ${wave.slot}`;
      root.append(ui.svg('text', { x: L - 6, y: i * ROW + 13, 'text-anchor': 'end' }, name));
      let at = wave.begin;
      for (const [state, cycles] of wave.timeline) {
        const rect = ui.svg('rect', {
          x: px(at),
          y: i * ROW + 3,
          width: Math.max(0.5, px(at + cycles) - px(at)),
          height: ROW - 5,
          class: `state-${['empty', 'idle', 'exec', 'wait', 'stall'].includes(state) ? state : 'empty'}`,
        });
        const from = at;
        ui.tip(rect, () => `${name}: ${state} for ${cycles} cycles from ${from - wave.begin}`);
        root.append(rect);
        at += cycles;
      }
    });
    root.append(ui.svg('text', { x: L, y: waves.length * ROW + 16 }, `0 to ${ui.num(end - begin)} cycles`));
    return ui.el(
      'div',
      { class: 'chart' },
      ui.el('h4', {}, 'Waves'),
      ui.el(
        'div',
        { class: 'toolbar' },
        ...['idle', 'exec', 'wait', 'stall'].map((s) => ui.el('span', { class: `key state-key state-${s}` }, s)),
      ),
      root,
    );
  };
  const residency = (trace: PageTrace): HTMLElement | undefined => {
    if (trace.residency.length < 2) return undefined;
    const [W, H, L] = [1000, 120, 40];
    const first = trace.residency[0][0];
    const last = Math.max(trace.residency[trace.residency.length - 1][0], first + 1);
    const most = Math.max(1, ...trace.residency.map(([, waves]) => waves));
    const px = (t: number) => L + ((t - first) / (last - first)) * (W - L - 8);
    const py = (n: number) => 8 + (1 - n / most) * (H - 30);
    let d = '';
    trace.residency.forEach(([time, waves], i) => {
      d += i === 0 ? `M${px(time)} ${py(waves)}` : `H${px(time)}V${py(waves)}`;
    });
    const root = ui.svg('svg', {
      viewBox: `0 0 ${W} ${H}`,
      role: 'img',
      'aria-label': `Resident waves over time, at most ${most}`,
    });
    root.append(
      ui.svg('path', { d, class: 'curve' }),
      ui.svg('text', { x: L - 6, y: py(most) + 4, 'text-anchor': 'end' }, String(most)),
      ui.svg('text', { x: L - 6, y: py(0) + 4, 'text-anchor': 'end' }, '0'),
      ui.svg('text', { x: L, y: H - 4 }, `${ui.num(last - first)} cycles`),
    );
    return ui.el('div', { class: 'chart' }, ui.el('h4', {}, 'Resident waves'), root);
  };
  const listing = (trace: PageTrace): HTMLElement => {
    const cost = (line: PageTrace['lines'][number]) =>
      line.latency > 0 || line.idle > 0 ? line.latency : (line.samples ?? 0);
    const most = trace.lines.reduce((max, line) => Math.max(max, cost(line)), 1);
    const sampled = trace.lines.some((line) => (line.samples ?? 0) > 0);
    const body = ui.el('tbody');
    let kernel: string | null = null;
    for (const line of trace.lines.slice(0, MAX_LINES)) {
      if (line.kernel !== kernel) {
        kernel = line.kernel;
        body.append(ui.el('tr', { class: 'title' }, ui.el('th', { colspan: '8', scope: 'rowgroup' }, kernel ?? '')));
      }
      const heat = ui.el('td', { class: 'isa' }, ui.el('code', {}, line.text));
      const share = cost(line) / most;
      if (share > 0) heat.style.setProperty('--heat', `${(100 * share).toFixed(1)}%`);
      body.append(
        ui.el(
          'tr',
          {},
          ui.el('td', { class: 'n' }, line.address.toString(16)),
          heat,
          ui.el('td', {}, line.class),
          ...[line.hits, line.latency, line.stall, line.idle].map((n) => ui.el('td', { class: 'n' }, ui.num(n))),
          ...(sampled ? [ui.el('td', { class: 'n' }, ui.num(line.samples ?? 0))] : []),
          ui.el('td', {}, ui.sourceLink(line.source)),
        ),
      );
    }
    const head = [
      'Address',
      'Instruction',
      'Class',
      'Hits',
      'Latency',
      'Stall',
      'Idle',
      ...(sampled ? ['Samples'] : []),
      'Source',
    ];
    return ui.el(
      'div',
      { class: 'scroll tall', tabindex: '0', role: 'region', 'aria-label': 'Annotated instructions' },
      ui.el(
        'table',
        { class: 'listing' },
        ui.el(
          'thead',
          {},
          ui.el(
            'tr',
            {},
            ...head.map((h, i) =>
              ui.el('th', { scope: 'col', ...(i !== 1 && i !== 2 && h !== 'Source' ? { class: 'n' } : {}) }, h),
            ),
          ),
        ),
        body,
      ),
      ...(trace.lines.length > MAX_LINES
        ? [ui.el('p', { class: 'note' }, `${MAX_LINES} of ${trace.lines.length} lines; profile.json has all.`)]
        : []),
    );
  };
  const holder = ui.el('div');
  const draw = (index: number) => {
    const trace = traces[index];
    holder.replaceChildren();
    if (trace === undefined) return;
    const tile = (label: string, value: HTMLElement) =>
      ui.el('div', { class: 'tile' }, ui.el('span', {}, label), value);
    holder.append(
      ui.el(
        'div',
        { class: 'tiles' },
        tile('Stalled', ui.measure(trace.stallShare, ui.percent)),
        tile('Idle', ui.measure(trace.idleShare, ui.percent)),
        tile('Issue utilisation', ui.measure(trace.issueUtilisation, ui.percent)),
        tile(
          'Load to use',
          ui.measure(trace.loadToUse, (v) => `${ui.num(v)} cycles`),
        ),
      ),
    );
    for (const part of [waveTimeline(trace), residency(trace)]) if (part !== undefined) holder.append(part);
    if (trace.classes.some((c) => c.hits > 0)) {
      holder.append(
        ui.table(
          'Cycles by class',
          ['Class', 'Executions', 'Latency', 'of it stall', 'Idle before'],
          trace.classes.map((c) => [c.class, ui.num(c.hits), ui.num(c.latency), ui.num(c.stall), ui.num(c.idle)]),
          [1, 2, 3, 4],
        ),
      );
    }
    if (trace.lines.length > 0) holder.append(listing(trace));
  };
  if (traces.length > 0) {
    const choice = ui.el('select', { id: 'trace-choice' }) as HTMLSelectElement;
    traces.forEach((trace, i) => {
      choice.append(ui.el('option', { value: String(i) }, `${trace.source} (${trace.kind})`));
    });
    choice.addEventListener('change', () => draw(Number(choice.value)));
    const best = traces.reduce((at, t, i) => (t.lines.length > traces[at].lines.length ? i : at), 0);
    choice.value = String(best);
    section.append(
      ui.el('div', { class: 'toolbar' }, ui.el('label', { for: 'trace-choice' }, 'Trace '), choice),
      holder,
    );
    draw(best);
  }
  if (data.samples.length > 0) {
    const total = data.samples.reduce((sum, s) => sum + s.samples, 0);
    const reason = (s: PageData['samples'][number]) => {
      const top = Object.entries(s.stallReasons).sort((a, b) => b[1] - a[1])[0];
      return top === undefined ? '' : `${top[0]} ${top[1]}`;
    };
    section.append(
      ui.table(
        `PC samples (${total})`,
        ['Samples', 'Instruction', 'Issued', 'Active lanes', 'Main stall', 'Kernel', 'Source'],
        data.samples
          .slice(0, 200)
          .map((s) => [
            `${s.samples} (${ui.percent(s.samples / total)})`,
            ui.el('code', {}, s.instruction),
            String(s.issued),
            s.meanLanes === null ? '–' : s.meanLanes.toFixed(1),
            reason(s),
            s.kernel ?? '',
            ui.sourceLink(s.source),
          ]),
        [0, 2, 3],
      ),
    );
  }
  return section;
}
