// The page: reads the form, asks the worker, shows what came back. Text goes into the page as text only.
import type { TargetName } from '../src/isa/types.ts';
import type { RunAnswer, RunInput } from './run-kernel.ts';
import example from './saxpy.s';

const byId = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const source = byId<HTMLTextAreaElement>('source');
const button = byId<HTMLButtonElement>('run');
const stop = byId<HTMLButtonElement>('stop');
const status = byId('status');
const output = byId('output');
let worker: Worker | undefined;

function element(name: string, text: string, className = ''): HTMLElement {
  const node = document.createElement(name);
  node.textContent = text;
  if (className !== '') node.className = className;
  return node;
}

function input(): RunInput {
  const value = (id: string): string => byId<HTMLInputElement>(id).value;
  return {
    source: source.value,
    target: value('target') as TargetName,
    grid: value('grid'),
    block: value('block'),
    args: value('args'),
    registers: byId<HTMLInputElement>('registers').checked,
  };
}

function selectLine(line: number): void {
  const starts = source.value.split('\n');
  const before = starts.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  source.focus();
  source.setSelectionRange(before, before + (starts[line - 1]?.length ?? 0));
  source.scrollTop = Math.max(0, (line - 4) * Number.parseFloat(getComputedStyle(source).lineHeight));
}

function show(answer: RunAnswer): void {
  output.replaceChildren();
  if (!answer.ok) {
    status.textContent = answer.problems.length === 1 ? 'One problem' : `${answer.problems.length} problems`;
    for (const problem of answer.problems) {
      const box = element('div', '', 'problem');
      box.append(element('pre', problem.message));
      if (problem.hint !== undefined) box.append(element('p', problem.hint));
      const { line } = problem;
      if (line !== undefined) {
        const link = element('button', `Line ${line}`);
        link.addEventListener('click', () => selectLine(line));
        box.append(link);
      }
      output.append(box);
    }
    return;
  }
  const { kernel, instructions, wavefronts, milliseconds, buffers, registers } = answer.output;
  status.textContent = `${kernel}: ${instructions} instructions, ${wavefronts} wavefronts, ${milliseconds.toFixed(0)} ms`;
  for (const buffer of buffers) {
    const title = `${buffer.name}: ${buffer.type}[${buffer.shape.join(',')}], ${buffer.changed} elements changed`;
    output.append(element('h2', title));
    const values = element('ol', '', 'values');
    values.setAttribute('start', '0');
    for (const value of buffer.first) values.append(element('li', value));
    output.append(values);
  }
  if (registers.length > 0) {
    output.append(element('h2', 'Registers of the first wavefront when it ended'));
    output.append(element('pre', registers.join('\n'), 'registers'));
  }
}

function finish(): void {
  worker?.terminate();
  worker = undefined;
  button.disabled = false;
  stop.disabled = true;
  document.body.dataset.state = 'idle';
}

function run(): void {
  finish();
  button.disabled = true;
  stop.disabled = false;
  document.body.dataset.state = 'running';
  status.textContent = 'Running…';
  worker = new Worker('worker.js', { type: 'module' });
  worker.addEventListener('message', (event: MessageEvent<RunAnswer>) => {
    show(event.data);
    finish();
  });
  worker.addEventListener('error', (event) => {
    show({ ok: false, problems: [{ code: 'page/worker', message: event.message || 'The worker failed to start.' }] });
    finish();
  });
  worker.postMessage(input());
}

source.value = example;
button.addEventListener('click', run);
stop.addEventListener('click', () => {
  finish();
  status.textContent = 'Stopped';
});
byId('reset').addEventListener('click', () => {
  source.value = example;
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run();
});
document.body.dataset.state = 'idle';
