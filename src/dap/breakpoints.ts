// The breakpoints that an editor sets, by what it sets them for: each request replaces those of its kind.
import { basename } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { WavesmithError } from '../base/index.ts';
import { type Debugger, placesOf, refuseUnknownIn } from '../device/sim/debug/index.ts';
import type { Sources } from './sources.ts';

/** Source files that a message names at most. */
const MOST_NAMED = 5;

/** The protocol's words: a write is a change of the value. */
const ACCESSES = { write: 'change', read: 'read', readWrite: 'any' } as const;

/** What an editor asks of any breakpoint. */
interface Wanted {
  readonly condition?: string | undefined;
  readonly hitCondition?: string | undefined;
  readonly logMessage?: string | undefined;
}

interface Made {
  readonly id: number;
  readonly shown: DebugProtocol.Breakpoint;
}

interface Answer {
  readonly breakpoints: DebugProtocol.Breakpoint[];
}

export class EditorBreakpoints {
  private led: Debugger;
  private sources: Sources;
  /** Sets what the editor asked for last, by what it asked it for. */
  private readonly asked = new Map<string, () => void>();
  /** Numbers of our breakpoints by what the editor set them for. */
  private readonly owned = new Map<string, number[]>();

  constructor(led: Debugger, sources: Sources) {
    this.led = led;
    this.sources = sources;
  }

  /** Sets the same breakpoints in another dispatch, but for those on data, which are of one dispatch. */
  follow(led: Debugger, sources: Sources): void {
    this.led = led;
    this.sources = sources;
    this.owned.clear();
    for (const [owner, again] of this.asked) if (owner !== 'data') again();
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
      return { id, shown: { id, verified: true } };
    });
  }

  /** One that cannot be set is answered with the reason; the others are set. */
  private replace<T>(owner: string, wanted: readonly T[], make: (one: T) => Made): Answer {
    this.asked.set(owner, () => void this.replace(owner, wanted, make));
    const { breakpoints } = this.led;
    const alive = new Set([...breakpoints.breakpoints, ...breakpoints.watchpoints].map((b) => b.id));
    for (const id of this.owned.get(owner) ?? []) if (alive.has(id)) breakpoints.remove(id);
    const ids: number[] = [];
    const shown = wanted.map((one): DebugProtocol.Breakpoint => {
      try {
        const made = make(one);
        ids.push(made.id);
        return made.shown;
      } catch (error) {
        if (!(error instanceof WavesmithError)) throw error;
        return { verified: false, message: error.message, reason: 'failed' };
      }
    });
    this.owned.set(owner, ids);
    return { breakpoints: shown };
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
    return { id, shown: { id, verified: true, instructionReference, ...at } };
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
