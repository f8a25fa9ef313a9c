// The breakpoints that an editor sets, by what it sets them for: each request replaces those of its kind.
import { basename } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { WavesmithError } from '../base/index.ts';
import { type Debugger, placesOf, refuseUnknownIn } from '../device/sim/debug/index.ts';
import type { Sources } from './sources.ts';

/** Source files that a message names at most. */
const MOST_NAMED = 5;

/** Why data is not watched any longer. */
const OF_ONE = 'It watched the dispatch before: data is of one dispatch.';

/** The protocol's words: a write is a change of the value. */
const ACCESSES = { write: 'change', read: 'read', readWrite: 'any' } as const;

/** What an editor asks of any breakpoint. */
interface Wanted {
  readonly condition?: string | undefined;
  readonly hitCondition?: string | undefined;
  readonly logMessage?: string | undefined;
}

interface Made {
  /** Its number in the dispatch's debugger. */
  readonly id: number;
  readonly shown: DebugProtocol.Breakpoint;
}

/** What an editor asked for at once: how it is set, and what the editor was told of each last. */
interface Asked {
  readonly set: () => DebugProtocol.Breakpoint[];
  shown: readonly DebugProtocol.Breakpoint[];
}

interface Answer {
  readonly breakpoints: DebugProtocol.Breakpoint[];
}

export class EditorBreakpoints {
  private led: Debugger;
  private sources: Sources;
  /** What the editor asked for last, by what it asked it for. */
  private readonly asked = new Map<string, Asked>();
  /** Numbers of our breakpoints by what the editor set them for. */
  private readonly owned = new Map<string, number[]>();
  /** Ids that the editor was given, by the numbers of this dispatch's debugger. */
  private readonly ids = new Map<number, number>();
  private lastId = 0;

  constructor(led: Debugger, sources: Sources) {
    this.led = led;
    this.sources = sources;
  }

  /** The editor's ids of breakpoints by their numbers; those that it has not set have none. */
  idsOf(numbers: readonly number[]): number[] {
    return numbers.flatMap((number) => this.ids.get(number) ?? []);
  }

  /** Sets the same breakpoints in another dispatch, but for those on data, which are of one dispatch; what has changed of them. */
  follow(led: Debugger, sources: Sources): DebugProtocol.Breakpoint[] {
    this.led = led;
    this.sources = sources;
    this.owned.clear();
    this.ids.clear();
    const changed: DebugProtocol.Breakpoint[] = [];
    for (const [owner, asked] of this.asked) {
      const before = asked.shown;
      asked.shown =
        owner === 'data' ? before.map(({ id = 0 }) => ({ id, verified: false, message: OF_ONE })) : asked.set();
      changed.push(...asked.shown.filter((now, i) => JSON.stringify(now) !== JSON.stringify(before[i])));
    }
    return changed;
  }

  /** In a source file or the listing. */
  setInSource({ source, breakpoints = [] }: DebugProtocol.SetBreakpointsArguments): Answer {
    return this.replace(`source ${source.path ?? ''} ${source.sourceReference ?? 0}`, breakpoints, (wanted) => {
      const found = this.sources.addressesOf(source.path, source.sourceReference, wanted.line);
      if (found !== undefined) return this.add(found.addresses, String(found.line), wanted, { line: found.line });
      throw new WavesmithError('run/no-such-place', this.whyNowhere(source, wanted.line));
    });
  }

  /** Why there is no instruction of a line. */
  private whyNowhere({ path, sourceReference = 0 }: DebugProtocol.Source, line: number): string {
    const files = this.led.options.lines?.files() ?? [];
    if (files.length > 0 && path !== undefined && this.sources.addressesOf(path, sourceReference, 1) === undefined) {
      const names = files.slice(0, MOST_NAMED).map((file) => basename(file));
      const more = files.length > MOST_NAMED ? ' and others' : '';
      return `No instruction was made from ${basename(path)}: the code is of ${names.join(', ')}${more}.`;
    }
    if (files.length > 0 || sourceReference !== 0) return `No instruction was made from line ${line} or later ones.`;
    return 'The code object has no debug information: compile with -g, or set breakpoints in the disassembly.';
  }

  setAtFunctions({ breakpoints }: DebugProtocol.SetFunctionBreakpointsArguments): Answer {
    return this.replace('functions', breakpoints, (wanted) =>
      this.add(placesOf(this.led.options, wanted.name), wanted.name, wanted, {}),
    );
  }

  setAtInstructions({ breakpoints }: DebugProtocol.SetInstructionBreakpointsArguments): Answer {
    return this.replace('instructions', breakpoints, (wanted) => {
      const address = Number(wanted.instructionReference) + (wanted.offset ?? 0);
      if (!(address >= 0)) {
        throw new WavesmithError('run/bad-address', `'${wanted.instructionReference}' is no address of code.`);
      }
      return this.add(
        [this.led.options.symbols.resolveInstruction(`0x${address.toString(16)}`)],
        undefined,
        wanted,
        {},
      );
    });
  }

  /** Each `dataId` is the expression that is watched. */
  setOnData({ breakpoints }: DebugProtocol.SetDataBreakpointsArguments): Answer {
    return this.replace('data', breakpoints, ({ dataId, accessType = 'write', condition, hitCondition }) => {
      if (hitCondition !== undefined && hitCondition.trim() !== '') {
        throw new WavesmithError('dap/bad-hit-condition', 'Breakpoints on data stop at each hit: they have no count.');
      }
      const { breakpoints: all, selected, lane } = this.led;
      const when = condition === '' ? undefined : condition;
      if (!Object.hasOwn(ACCESSES, accessType))
        throw new WavesmithError('dap/bad-request', `'${accessType}' is no access: read, write or readWrite.`);
      const { id } = all.watch(dataId, selected, lane, when, ACCESSES[accessType]);
      return { id, shown: { verified: true } };
    });
  }

  /** One that cannot be set is answered with the reason; the others are set. */
  private replace<T>(owner: string, wanted: readonly T[], make: (one: T) => Made): Answer {
    const ids = wanted.map(() => ++this.lastId);
    const set = (): DebugProtocol.Breakpoint[] => this.setAll(owner, wanted, ids, make);
    const breakpoints = set();
    this.asked.set(owner, { set, shown: breakpoints });
    return { breakpoints };
  }

  private setAll<T>(owner: string, wanted: readonly T[], ids: readonly number[], make: (one: T) => Made) {
    const { breakpoints } = this.led;
    const alive = new Set([...breakpoints.breakpoints, ...breakpoints.watchpoints].map((b) => b.id));
    for (const id of this.owned.get(owner) ?? []) if (alive.has(id)) breakpoints.remove(id);
    const numbers: number[] = [];
    const shown = wanted.map((one, i): DebugProtocol.Breakpoint => {
      const id = ids[i] as number;
      try {
        const made = make(one);
        numbers.push(made.id);
        this.ids.set(made.id, id);
        return { id, ...made.shown };
      } catch (error) {
        if (!(error instanceof WavesmithError)) throw error;
        return { id, verified: false, message: error.message, reason: 'failed' };
      }
    });
    this.owned.set(owner, numbers);
    return shown;
  }

  private add(
    places: readonly number[],
    meant: string | undefined,
    wanted: Wanted,
    at: Partial<DebugProtocol.Breakpoint>,
  ): Made {
    const condition = wanted.condition === '' ? undefined : wanted.condition;
    refuseUnknownIn(this.led, condition, places, meant);
    const { id } = this.led.breakpoints.add({
      places,
      meant,
      condition,
      ignore: passes(wanted.hitCondition),
      log: wanted.logMessage,
    });
    const instructionReference = `0x${(places[0] as number).toString(16)}`;
    return { id, shown: { verified: true, instructionReference, ...at } };
  }
}

/** `N`, `== N`, `>= N` or `> N` of a hit condition as passes before the breakpoint stops. */
function passes(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const match = /^\s*(==|>=|>)?\s*(\d{1,9})\s*$/.exec(text);
  if (match === null) {
    throw new WavesmithError('dap/bad-hit-condition', `'${text}' is not a number of hits: N, >= N or > N.`);
  }
  return match[1] === '>' ? Number(match[2]) : Math.max(0, Number(match[2]) - 1);
}
