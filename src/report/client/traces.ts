// Thread traces: annotated instructions with heat, cycles by class, resident waves, wave timelines; PC samples.
import type { PageData, PageTrace } from '../page-data.ts';
import type { Listing } from './listing.ts';
import type { Ui } from './ui.ts';

/** Draws the instructions of one wave beside their listing. */
type WaveInstructions = (ui: Ui, trace: PageTrace, listing: HTMLElement) => HTMLElement | undefined;

/** Draws the trace section. */
export function traceView(ui: Ui, data: PageData, listing: Listing, waveInstructions: WaveInstructions): HTMLElement {
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
  // A drawing that is wider than a narrow window scrolls, by keyboard too.
  const chart = (label: string) => ({ class: 'chart', tabindex: '0', role: 'group', 'aria-label': label });
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
      chart('Waves'),
      ui.el('h3', {}, 'Waves'),
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
    return ui.el('div', chart('Resident waves'), ui.el('h3', {}, 'Resident waves'), root);
  };
  const states = (trace: PageTrace): HTMLElement | undefined => {
    const series = trace.waveStates.filter((one) => one.points.length > 1);
    if (series.length === 0) return undefined;
    const [W, H, L] = [1000, 140, 40];
    const all = series.flatMap((one) => one.points);
    const first = all.reduce((min, [time]) => Math.min(min, time), Number.POSITIVE_INFINITY);
    const last = all.reduce((max, [time]) => Math.max(max, time), first + 1);
    const most = all.reduce((max, [, waves]) => Math.max(max, waves), 1);
    const px = (t: number) => L + ((t - first) / (last - first)) * (W - L - 8);
    const py = (n: number) => 8 + (1 - n / most) * (H - 30);
    const root = ui.svg('svg', {
      viewBox: `0 0 ${W} ${H}`,
      role: 'img',
      'aria-label': `Waves by state over time, at most ${ui.num(most)}`,
    });
    for (const one of series) {
      const d = one.points.map(([time, waves], i) => `${i === 0 ? 'M' : 'L'}${px(time)} ${py(waves)}`).join('');
      const known = ['exec', 'wait', 'stall', 'idle'].includes(one.state) ? one.state : 'idle';
      root.append(ui.svg('path', { d, class: `curve line-${known}` }));
    }
    root.append(
      ui.svg('text', { x: L - 6, y: py(most) + 4, 'text-anchor': 'end' }, ui.num(most)),
      ui.svg('text', { x: L - 6, y: py(0) + 4, 'text-anchor': 'end' }, '0'),
      ui.svg('text', { x: L, y: H - 4 }, `${ui.num(last - first)} cycles`),
    );
    return ui.el('div', chart('Waves by state'), ui.el('h3', {}, 'Waves by state'), root);
  };
  const holder = ui.el('div');
  const draw = (index: number) => {
    const trace = traces[index];
    holder.replaceChildren();
    if (trace === undefined) return;
    const cycles = (value: number) => `${ui.num(value)} cycles`;
    const facts = [
      ['Stalled', trace.stallShare, ui.percent],
      ['Idle', trace.idleShare, ui.percent],
      ['Issue utilisation', trace.issueUtilisation, ui.percent],
      ['Load to use', trace.loadToUse, cycles],
    ] as const;
    const known = facts.filter(([, { value }]) => value !== undefined);
    const tiles = known.map(([label, value, format]) =>
      ui.el('div', { class: 'tile' }, ui.el('span', {}, label), ui.measure(value, format)),
    );
    // What is unknown of a trace is a sentence, no tiles.
    if (tiles.length > 0) holder.append(ui.el('div', { class: 'tiles' }, ...tiles));
    const others = facts.filter(([, { value }]) => value === undefined);
    if (others.length > 0) {
      const why = [...new Set(others.map(([, { unknown }]) => unknown ?? ''))].join('; ');
      holder.append(
        ui.el('p', { class: 'note' }, `Unknown: ${others.map(([label]) => label.toLowerCase()).join(', ')} (${why}).`),
      );
    }
    for (const part of [waveTimeline(trace), states(trace), residency(trace)])
      if (part !== undefined) holder.append(part);
    if (trace.classes.some((c) => c.hits > 0)) {
      const timed = trace.classes.some((c) => c.latency > 0);
      holder.append(
        ui.table(
          timed ? 'Cycles by class' : 'Executions by class',
          ['Class', 'Executions', ...(timed ? ['Latency', 'of it stall', 'Idle before'] : [])],
          trace.classes.map((c) => [
            c.class,
            ui.num(c.hits),
            ...(timed ? [ui.num(c.latency), ui.num(c.stall), ui.num(c.idle)] : []),
          ]),
          [1, 2, 3, 4],
        ),
      );
    }
    if (trace.otherSimd.length > 0) {
      holder.append(
        ui.table(
          'Instructions of the SIMDs beside the traced one',
          ['Category', 'Instructions', 'Cycles'],
          trace.otherSimd.map((o) => [o.category, ui.num(o.instructions), ui.num(o.cycles)]),
          [1, 2],
        ),
      );
    }
    if (trace.lines.length === 0) return;
    const lines = listing(ui, trace.lines, 'Annotated instructions');
    const wave = waveInstructions(ui, trace, lines);
    if (wave !== undefined) holder.append(wave);
    holder.append(lines);
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
