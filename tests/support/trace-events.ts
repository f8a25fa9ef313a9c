// What Perfetto makes of a timeline in the Trace Event format, written from its sources (src/trace_processor: importers/json,
// importers/common/slice_tracker, flow_tracker, sorter), as trace_processor itself is a download of its own. Lists what it would drop.

interface Event {
  readonly ph: string;
  readonly name: string;
  readonly cat?: string;
  readonly pid: number;
  readonly tid?: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly bind_id?: number;
  readonly flow_out?: boolean;
  readonly flow_in?: boolean;
  readonly args?: Readonly<Record<string, unknown>>;
}

export interface Slice {
  readonly name: string;
  readonly cat: string;
  readonly process: string;
  readonly thread: string;
  /** Nanoseconds. */
  readonly ts: number;
  readonly dur: number;
  readonly depth: number;
}

export interface Trace {
  readonly slices: readonly Slice[];
  readonly flows: readonly (readonly [from: Slice, to: Slice])[];
  readonly counters: readonly { readonly name: string; readonly ts: number; readonly value: number }[];
  readonly dropped: readonly string[];
}

/** The trace; `toInteger` is how the version of Perfetto comes from microseconds to whole nanoseconds. */
export function readTraceEvents(text: string, toInteger: (ns: number) => number = Math.round): Trace {
  const { traceEvents } = JSON.parse(text) as { traceEvents: Event[] };
  const ns = (microseconds: number | undefined): number => toInteger((microseconds ?? Number.NaN) * 1000);
  const [processes, threads] = [new Map<number, string>(), new Map<string, string>()];
  for (const { ph, name, pid, tid, args } of traceEvents) {
    if (ph === 'M' && name === 'process_name') processes.set(pid, String(args?.name));
    if (ph === 'M' && name === 'thread_name') threads.set(`${pid} ${tid}`, String(args?.name));
  }
  const dropped: string[] = [];
  const slices: Slice[] = [];
  const flows: (readonly [Slice, Slice])[] = [];
  const counters: { name: string; ts: number; value: number }[] = [];
  const open = new Map<string, Slice[]>();
  const sources = new Map<number, Slice>();
  const timed = traceEvents.flatMap((event) => (event.ph === 'M' ? [] : [{ event, at: ns(event.ts) }]));
  for (const { event, at } of timed.sort((a, b) => a.at - b.at)) {
    const { ph, name, pid, tid, dur, bind_id: flow, args } = event;
    const [where, key] = [`${name} at ${at}`, `${pid} ${tid}`];
    const process = processes.get(pid);
    if (!(at >= 0)) dropped.push(`${where}: a time before 0`);
    else if (process === undefined) dropped.push(`${where}: no process ${pid}`);
    else if (ph === 'C') {
      const value = args?.value;
      if (typeof value === 'number') counters.push({ name, ts: at, value });
      else dropped.push(`${where}: a counter without a number`);
    } else if (ph === 'X') {
      const stack = open.get(key) ?? [];
      open.set(key, stack);
      const length = ns(dur);
      for (let top = stack.at(-1); top !== undefined && top.ts + top.dur <= at; top = stack.at(-1)) stack.pop();
      const above = stack.at(-1);
      const thread = threads.get(key) ?? '';
      if (thread === '') dropped.push(`${where}: no thread ${key}`);
      if (!(length >= 0) || (above !== undefined && at + length > above.ts + above.dur)) {
        dropped.push(`${where}: overlaps ${above?.name} at ${above?.ts} of ${thread}, or has no length`);
        continue;
      }
      const slice = { name, cat: event.cat ?? '', process, thread, ts: at, dur: length, depth: stack.length };
      slices.push(slice);
      stack.push(slice);
      if (flow === undefined) continue;
      const from = sources.get(flow);
      if (event.flow_out === true) sources.set(flow, slice);
      else if (event.flow_in !== true) dropped.push(`${where}: a flow without direction`);
      else if (from === undefined) dropped.push(`${where}: flow ${flow} has no start`);
      else flows.push([from, slice]);
    } else dropped.push(`${where}: phase ${ph}`);
  }
  return { slices, flows, counters, dropped };
}
