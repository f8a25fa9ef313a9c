// The page's small toolkit. Functions of this folder are written into the page as text (`toString`), so each is
// self-contained: no imports but types, everything else through its arguments. Text from outside only ever becomes text nodes.
import type { PageMeasure } from '../page-data.ts';

export type Child = Node | string | undefined;

export interface Ui {
  el(tag: string, attributes?: Record<string, string | ((event: Event) => void)>, ...children: Child[]): HTMLElement;
  svg(tag: string, attributes?: Record<string, string | number>, ...children: Child[]): SVGElement;
  num(value: number): string;
  /** All digits of a count, in groups. */
  count(value: number): string;
  ns(value: number): string;
  percent(value: number): string;
  bytes(value: number): string;
  /** A rate in GFLOP/s with the unit that fits. */
  flops(giga: number): string;
  /** A bandwidth in GB/s with the unit that fits. */
  bandwidth(giga: number): string;
  /** A metric's value as its unit asks. */
  value(value: number, unit: string): string;
  /** Round numbers between two, at most `most` and one more, and how each is written: with all the digits in which it differs from its neighbours. */
  ticks(from: number, to: number, most?: number): readonly (readonly [number, string])[];
  show(measure: PageMeasure, format: (value: number) => string): string;
  measure(measure: PageMeasure, format: (value: number) => string): HTMLElement;
  table(
    caption: string,
    head: readonly string[],
    rows: readonly (readonly Child[])[],
    numeric?: readonly number[],
  ): HTMLElement;
  /** A bar as long as the share, with its text in it. */
  bar(share: number, label: string): HTMLElement;
  sourceLink(source: string): Child;
  /** The button that changes between light and dark. */
  themeButton(): HTMLElement;
  tip(target: Element, text: () => string): void;
}

/** Builds the toolkit for the document of the page. */
export function createUi(): Ui {
  const SVG = 'http://www.w3.org/2000/svg';
  const append = (parent: Element, children: readonly Child[]) => {
    for (const child of children) if (child !== undefined) parent.append(child);
  };
  const tooltip = document.createElement('div');
  tooltip.id = 'tooltip';
  tooltip.setAttribute('role', 'tooltip');
  tooltip.hidden = true;
  document.body.append(tooltip);
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape') tooltip.hidden = true;
  });
  for (const moved of ['hashchange', 'scroll']) {
    addEventListener(moved, () => {
      tooltip.hidden = true;
    });
  }
  const ui: Ui = {
    el(tag, attributes = {}, ...children) {
      const element = document.createElement(tag);
      for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === 'string') element.setAttribute(name, value);
        else element.addEventListener(name, value);
      }
      append(element, children);
      return element;
    },
    svg(tag, attributes = {}, ...children) {
      const element = document.createElementNS(SVG, tag) as SVGElement;
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
      append(element, children);
      return element;
    },
    num(value) {
      if (value === 0) return '0';
      const size = Math.abs(value);
      if (size >= 1e15 || size < 1e-3) return value.toExponential(3);
      for (const [scale, suffix] of [
        [1e12, ' T'],
        [1e9, ' G'],
        [1e6, ' M'],
        [1e4, ' k'],
      ] as const) {
        if (size >= scale) return `${(value / (suffix === ' k' ? 1e3 : scale)).toFixed(2)}${suffix}`;
      }
      return Number.isInteger(value) ? String(value) : value.toPrecision(4);
    },
    count: (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ','),
    ns(value) {
      if (Math.abs(value) >= 86_400e9) return `${(value / 86_400e9).toFixed(2)} days`;
      if (Math.abs(value) >= 3600e9) return `${(value / 3600e9).toFixed(2)} h`;
      if (Math.abs(value) >= 1e9) return `${(value / 1e9).toFixed(3)} s`;
      if (Math.abs(value) >= 1e6) return `${(value / 1e6).toFixed(3)} ms`;
      if (Math.abs(value) >= 1e3) return `${(value / 1e3).toFixed(2)} µs`;
      return `${Math.round(value)} ns`;
    },
    bytes(value) {
      for (const [scale, suffix] of [
        [1e12, 'TB'],
        [1e9, 'GB'],
        [1e6, 'MB'],
        [1e4, 'kB'],
      ] as const) {
        if (Math.abs(value) >= scale) {
          return `${Number((value / (suffix === 'kB' ? 1e3 : scale)).toPrecision(4))} ${suffix}`;
        }
      }
      return `${Number(value.toPrecision(4))} bytes`;
    },
    flops(giga) {
      if (giga >= 1000) return `${Number((giga / 1000).toPrecision(3))} TFLOP/s`;
      return `${Number(giga.toPrecision(3))} GFLOP/s`;
    },
    bandwidth(giga) {
      if (giga >= 1000) return `${Number((giga / 1000).toPrecision(3))} TB/s`;
      return `${Number(giga.toPrecision(3))} GB/s`;
    },
    value(value, unit) {
      if (unit === 'fraction') return ui.percent(value);
      if (unit === 'bytes') return ui.bytes(value);
      if (unit === 'count') return Number.isInteger(value) && Math.abs(value) < 1e12 ? ui.count(value) : ui.num(value);
      if (unit === 'ratio') return ui.num(value);
      const text = ui.num(value);
      // The prefix belongs to a unit that is one word: TFLOP, and no T FLOP.
      return /[A-Za-z]$/.test(text) && /^(?:FL)?OP\b/.test(unit) ? `${text}${unit}` : `${text} ${unit}`;
    },
    ticks(from, to, most = 6) {
      const rough = Math.max((to - from) / most, 1e-3);
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1);
      const [scale, unit] =
        to >= 1e9
          ? ([1e9, 's'] as const)
          : to >= 1e6
            ? ([1e6, 'ms'] as const)
            : to >= 1e3
              ? ([1e3, 'µs'] as const)
              : ([1, 'ns'] as const);
      const digits = Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9));
      const ticks: [number, string][] = [];
      for (let i = Math.ceil(from / step); i * step <= to; i++) {
        ticks.push([i * step, i === 0 ? '0' : `${((i * step) / scale).toFixed(digits)} ${unit}`]);
      }
      return ticks;
    },
    percent: (value) => `${(100 * value).toFixed(1)}%`,
    show: (measure, format) => (measure.value === undefined ? 'unknown' : format(measure.value)),
    measure(measure, format) {
      if (measure.value !== undefined) return ui.el('span', {}, format(measure.value));
      const why = measure.unknown ?? '';
      return ui.el('span', { class: 'unknown', title: why, tabindex: '0', 'aria-label': `unknown: ${why}` }, 'unknown');
    },
    table(caption, head, rows, numeric = []) {
      const cls = (i: number) => (numeric.includes(i) ? { class: 'n' } : {});
      return ui.el(
        'div',
        { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
        ui.el(
          'table',
          {},
          ui.el('caption', {}, caption),
          ui.el('thead', {}, ui.el('tr', {}, ...head.map((h, i) => ui.el('th', { scope: 'col', ...cls(i) }, h)))),
          ui.el('tbody', {}, ...rows.map((row) => ui.el('tr', {}, ...row.map((cell, i) => ui.el('td', cls(i), cell))))),
        ),
      );
    },
    bar(share, label) {
      const fill = ui.el('span', { class: 'fill' });
      fill.style.width = `${Math.max(0, Math.min(100, share * 100))}%`;
      const text = ui.el('span', { class: 'bar-text' }, label);
      return ui.el('div', { class: 'bar', role: 'img', 'aria-label': label }, fill, text);
    },
    themeButton() {
      const toggle = () => {
        const dark = getComputedStyle(document.documentElement).colorScheme.trim() === 'dark';
        document.documentElement.dataset.theme = dark ? 'light' : 'dark';
      };
      return ui.el('button', { type: 'button', id: 'theme', click: toggle }, 'Light or dark');
    },
    sourceLink(source) {
      const match = /^(\/[^\0]*?):(\d+)(?: |$)/.exec(source);
      if (match === null) return source;
      const href = `file://${encodeURI(match[1]).replace(/[?#]/g, encodeURIComponent)}#L${match[2]}`;
      const name = match[1].slice(match[1].lastIndexOf('/') + 1);
      return ui.el('a', { href, title: source }, `${name}:${match[2]}`);
    },
    tip(target, text) {
      const place = (x: number, y: number) => {
        tooltip.textContent = text();
        tooltip.hidden = false;
        const box = tooltip.getBoundingClientRect();
        tooltip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - box.width - 8))}px`;
        tooltip.style.top = `${Math.max(4, Math.min(y + 12, innerHeight - box.height - 8))}px`;
      };
      const hide = () => {
        tooltip.hidden = true;
      };
      target.addEventListener('mousemove', (event) =>
        place((event as MouseEvent).clientX, (event as MouseEvent).clientY),
      );
      target.addEventListener('mouseleave', hide);
      target.addEventListener('focus', () => {
        const box = target.getBoundingClientRect();
        place(box.right, box.bottom);
      });
      target.addEventListener('blur', hide);
    },
  };
  return ui;
}
