// Room `dap`: the Debug Adapter Protocol: editors lead the debugger of the virtual GPU. Wavefronts are threads.
// Begin with this file (one method for each request), then leader.ts (how execution waits for the editor), variables.ts and sources.ts
// (what is shown), launch.ts (what `launch.json` may say).
// Source: https://microsoft.github.io/debug-adapter-protocol/specification.
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  BreakpointEvent,
  DebugSession,
  ExitedEvent,
  InitializedEvent,
  OutputEvent,
  Response,
  StackFrame,
  StoppedEvent,
  TerminatedEvent,
  Thread,
} from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { WavesmithError } from '../base/index.ts';
import {
  type BackTarget,
  backtrace,
  beginsWithCommand,
  type CommandSession,
  completions,
  type Debugger,
  executeCommand,
  isExpression,
  operandOf,
  type Resume,
  type Stop,
  setBytes,
  stopText,
  UnknownName,
  waveText,
} from '../device/sim/debug/index.ts';
import type { Wave } from '../device/sim/state/wave.ts';
import { EditorBreakpoints } from './breakpoints.ts';
import { type LaunchConfiguration, type LaunchLine, launchLine } from './launch.ts';
import { EditorLeader } from './leader.ts';
import { bytesOfBase64, readMemory, writePart, writeTarget } from './memory.ts';
import { refusal, withoutNulls } from './requests.ts';
import { disassembled, LISTING, Sources } from './sources.ts';
import { Variables } from './variables.ts';

/** Runs `wavesmith run` or `exec` with a leader in the place of a terminal; resolves to the exit code. */
export type Launcher = (line: LaunchLine, leader: EditorLeader, write: Write) => Promise<number>;

/** Gets what a program prints, and where it prints it. */
type Write = (text: string, stream?: 'stdout' | 'stderr') => void;

/** The words of the protocol for why waves are held. */
const REASONS: Readonly<Record<Stop['reason'], string>> = {
  entry: 'entry',
  breakpoint: 'breakpoint',
  step: 'step',
  reached: 'goto',
  interrupted: 'pause',
  watchpoint: 'data breakpoint',
  written: 'data breakpoint',
  fault: 'exception',
  ended: 'pause',
  'start of history': 'pause',
};

/** Selects the wave and the function whose variables are meant. */
function showFrame(led: Debugger, { wave, depth }: { readonly wave: Wave; readonly depth: number }): void {
  if (wave !== led.selected) led.select(wave);
  led.frame = depth;
}

/** Why an expression cannot change: it means nothing, or has no value. Structs and arrays have one that is no number. */
function whyNotWatched(led: Debugger, name: string, text: string): string | undefined {
  try {
    const operand = operandOf(led, text);
    return typeof operand === 'object' && operand.bytes === undefined ? `${name}: ${operand.why}` : undefined;
  } catch (error) {
    if (error instanceof WavesmithError) return error.message;
    throw error;
  }
}

const unknownId = (what: string, id: number): WavesmithError =>
  new WavesmithError('dap/unknown-id', `There is no ${what} ${id} now.`, {
    hint: 'Ask for the threads and their stack traces again: the ids of stack frames end when the program goes on.',
  });

/** Relative paths begin there. */
function enter(folder: unknown): void {
  const isFolder = typeof folder === 'string' && statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder) process.chdir(folder as string);
  else
    throw new WavesmithError('dap/bad-launch', `'cwd' of the launch configuration, ${String(folder)}, is no folder.`);
}

/** One connection to an editor. */
export class WavesmithDebugSession extends DebugSession {
  private readonly launcher: Launcher;
  private leader: EditorLeader | undefined;
  private led: Debugger | undefined;
  private sources: Sources | undefined;
  private variables: Variables | undefined;
  private readonly threads = new Map<string, number>();
  private frames: { readonly wave: Wave; readonly depth: number }[] = [];
  private breakpoints: EditorBreakpoints | undefined;
  private readonly displays: CommandSession['displays'] = [];
  /** Where `x` alone goes on. */
  private examined: CommandSession['examined'];
  private held: Stop | undefined;
  /** Kept when the editor has disconnected, and what it has left alone has ended. */
  readonly over: Promise<void>;
  /** The editor has disconnected from what runs on: nobody hears of it any more. */
  isLeft = false;
  private launched: Promise<void> | undefined;
  private finish: () => void = () => {};

  constructor(launcher: Launcher) {
    super();
    this.launcher = launcher;
    this.setDebuggerLinesStartAt1(true);
    this.setDebuggerColumnsStartAt1(true);
    this.over = new Promise((kept) => {
      this.finish = kept;
    });
  }

  /** The editor has gone. What it has left alone runs on. */
  override shutdown(): void {
    if (this.isLeft) return;
    this.leader?.quit();
    this.finish();
  }

  protected override dispatchRequest(sent: DebugProtocol.Request): void {
    const given = withoutNulls(sent.arguments) ?? {};
    // The library asks for what the protocol takes as given.
    const request = { ...sent, arguments: sent.command === 'initialize' ? { pathFormat: 'path', ...given } : given };
    const wrong = refusal(request);
    if (wrong === undefined) super.dispatchRequest(request);
    else this.fail(new Response(request), wrong);
  }

  protected override initializeRequest(response: DebugProtocol.InitializeResponse): void {
    response.body = {
      supportsConfigurationDoneRequest: true,
      supportsFunctionBreakpoints: true,
      supportsConditionalBreakpoints: true,
      supportsHitConditionalBreakpoints: true,
      supportsLogPoints: true,
      supportsInstructionBreakpoints: true,
      supportsDataBreakpoints: true,
      supportsEvaluateForHovers: true,
      supportsSetVariable: true,
      supportsSetExpression: true,
      supportsStepBack: true,
      supportsSteppingGranularity: true,
      supportsGotoTargetsRequest: true,
      supportsBreakpointLocationsRequest: true,
      supportsDisassembleRequest: true,
      supportsReadMemoryRequest: true,
      supportsWriteMemoryRequest: true,
      supportsExceptionInfoRequest: true,
      supportsTerminateRequest: true,
      supportTerminateDebuggee: true,
      supportsCompletionsRequest: true,
      supportsLoadedSourcesRequest: true,
    };
    this.sendResponse(response);
  }

  protected override launchRequest(
    response: DebugProtocol.LaunchResponse,
    configuration: DebugProtocol.LaunchRequestArguments & LaunchConfiguration,
  ): void {
    if (this.leader !== undefined) {
      this.fail(response, new WavesmithError('dap/bad-request', 'This session has launched something already.'));
      return;
    }
    let isReady = false;
    const write: Write = (text, stream = 'stdout') => this.sendEvent(new OutputEvent(text, stream));
    const { cwd, program, command, stopOnEntry, stopAtEnd, noDebug } = configuration;
    const file = String(Array.isArray(command) ? command[0] : program);
    this.leader = new EditorLeader(
      {
        ready: (led) => {
          const folders = [process.cwd(), dirname(resolve(file))];
          this.led = led;
          this.sources = new Sources(led, folders);
          this.variables = new Variables(led);
          for (const one of this.breakpoints?.follow(led, this.sources) ?? [])
            this.sendEvent(new BreakpointEvent('changed', one));
          if (isReady) return;
          isReady = true;
          this.breakpoints = new EditorBreakpoints(led, this.sources);
          this.sendResponse(response);
          this.sendEvent(new InitializedEvent());
        },
        stopped: (stop) => this.showStop(stop),
        logged: (text) => this.sendEvent(new OutputEvent(`${text}\n`, 'console')),
      },
      { atEntry: stopOnEntry === true, atEnd: stopAtEnd === true, never: noDebug === true },
    );
    this.launched = this.launch(configuration, cwd, this.leader, write).then((code) => {
      // A program without kernels.
      if (!isReady) this.sendResponse(response);
      this.end('', code);
    });
    void this.launched.catch((error: unknown) => {
      if (!(error instanceof WavesmithError)) throw error;
      if (!isReady) this.fail(response, error);
      // As the command line ends.
      else this.end(`${error.format()}\n`, error.code.startsWith('cli/') ? 2 : 1);
    });
  }

  private async launch(
    configuration: LaunchConfiguration,
    cwd: unknown,
    leader: EditorLeader,
    write: Write,
  ): Promise<number> {
    if (cwd !== undefined) enter(cwd);
    return await this.launcher(launchLine(configuration), leader, write);
  }

  private end(text: string, code: number): void {
    if (text !== '') this.sendEvent(new OutputEvent(text, 'stderr'));
    this.sendEvent(new ExitedEvent(code));
    this.sendEvent(new TerminatedEvent());
  }

  private fail(response: DebugProtocol.Response, error: unknown): void {
    if (!(error instanceof WavesmithError)) throw error;
    const hint = error.hint === undefined ? '' : ` ${error.hint}`;
    this.sendErrorResponse(response, { id: 1, format: `{_text}`, variables: { _text: `${error.message}${hint}` } });
  }

  /** Answers a request; what the user did wrong becomes its error. */
  private answer(response: DebugProtocol.Response, make: (led: Debugger) => object | undefined): void {
    try {
      if (this.led === undefined) {
        throw new WavesmithError('dap/not-launched', 'Nothing has been launched yet.', { hint: 'Send launch first.' });
      }
      const body = make(this.led);
      if (body !== undefined) response.body = body;
      this.sendResponse(response);
    } catch (error) {
      this.fail(response, error);
    }
  }

  private showStop(stop: Stop): void {
    this.held = stop;
    this.frames = [];
    this.variables?.reset();
    const thread = stop.wave === undefined ? 1 : this.threadOf(stop.wave);
    const event: DebugProtocol.StoppedEvent = new StoppedEvent(REASONS[stop.reason], thread);
    event.body.allThreadsStopped = true;
    event.body.description = this.led === undefined ? '' : stopText(this.led, stop);
    if (stop.fault !== undefined) event.body.text = stop.fault.message;
    if (stop.hit !== undefined) event.body.hitBreakpointIds = this.breakpoints?.idsOf(stop.hit) ?? [];
    this.sendEvent(event);
  }

  private threadOf(w: Wave): number {
    const key = waveText(w);
    const known = this.threads.get(key) ?? this.threads.size + 1;
    this.threads.set(key, known);
    return known;
  }

  /** The wave of a thread; undefined when it is over, or when no wave has begun. Throws for a thread that the editor was never told of. */
  private waveOf(thread: number): Wave | undefined {
    const isKernel = thread === 1 && this.threads.size === 0;
    if (!isKernel && ![...this.threads.values()].includes(thread)) throw unknownId('thread', thread);
    return this.led?.allWaves.find((w) => this.threadOf(w) === thread);
  }

  /** The stack frame of an id that the editor was given at this stop. */
  private frameOf(id: number): { readonly wave: Wave; readonly depth: number } {
    const frame = this.frames[id - 1];
    if (frame === undefined) throw unknownId('stack frame', id);
    return frame;
  }

  /** Selects what a request says that it is about, if it does. */
  private showFrameOf(id: number | undefined, led: Debugger): void {
    if (id !== undefined) showFrame(led, this.frameOf(id));
  }

  protected override configurationDoneRequest(response: DebugProtocol.ConfigurationDoneResponse): void {
    this.sendResponse(response);
    this.leader?.configurationDone();
  }

  protected override threadsRequest(response: DebugProtocol.ThreadsResponse): void {
    this.answer(response, (led) => {
      const threads = led.allWaves.map((w) => {
        const [group, wave] = waveText(w).split('/');
        return new Thread(this.threadOf(w), `workgroup ${group} wave ${wave}${w.state === 'ended' ? ' (ended)' : ''}`);
      });
      return { threads: threads.length > 0 ? threads : [new Thread(1, 'kernel')] };
    });
  }

  protected override stackTraceRequest(
    response: DebugProtocol.StackTraceResponse,
    { threadId, startFrame: first = 0, levels = 0 }: DebugProtocol.StackTraceArguments,
  ): void {
    this.answer(response, (led) => {
      const startFrame = Math.max(0, first);
      const w = this.waveOf(threadId);
      if (w === undefined || w.state === 'ended' || this.held?.wave === undefined)
        return { stackFrames: [], totalFrames: 0 };
      const all = backtrace(led, w);
      const shown = all.slice(startFrame, levels > 0 ? startFrame + levels : undefined);
      const stackFrames = shown.map(({ frame: { pc, line, name: called } }, i) => {
        this.frames.push({ wave: w, depth: startFrame + i });
        const place = this.sources?.placeOf(pc, line);
        const name = called ?? led.options.symbols.nameOf(pc) ?? `0x${pc.toString(16)}`;
        const shownLine = place === undefined ? 0 : this.convertDebuggerLineToClient(place.line);
        const column = this.convertDebuggerColumnToClient(1);
        const frame = new StackFrame(this.frames.length, name, place?.source, shownLine, column);
        frame.instructionPointerReference = `0x${pc.toString(16)}`;
        return frame;
      });
      return { stackFrames, totalFrames: all.length };
    });
  }

  protected override scopesRequest(
    response: DebugProtocol.ScopesResponse,
    { frameId }: DebugProtocol.ScopesArguments,
  ): void {
    this.answer(response, (led) => {
      const frame = this.frameOf(frameId);
      showFrame(led, frame);
      return { scopes: this.variables?.scopes(frame.wave, frame.depth) ?? [] };
    });
  }

  protected override variablesRequest(
    response: DebugProtocol.VariablesResponse,
    args: DebugProtocol.VariablesArguments,
  ): void {
    this.answer(response, () => {
      const variables = this.variables?.list(args);
      if (variables === undefined) throw unknownId('group of variables', args.variablesReference);
      return { variables };
    });
  }

  protected override setVariableRequest(
    response: DebugProtocol.SetVariableResponse,
    { variablesReference, name, value }: DebugProtocol.SetVariableArguments,
  ): void {
    this.answer(response, () => ({ value: this.variables?.set(variablesReference, name, value) ?? '' }));
  }

  protected override setExpressionRequest(
    response: DebugProtocol.SetExpressionResponse,
    { expression, value, frameId }: DebugProtocol.SetExpressionArguments,
  ): void {
    this.answer(response, (led) => {
      this.showFrameOf(frameId, led);
      const { session } = this.commandSession(led);
      executeCommand(session, `set ${expression} = ${value}`);
      const shown = this.variables?.shown(expression);
      const { value: text = '', type = '', variablesReference = 0, indexedVariables } = shown ?? {};
      return { value: text, type, variablesReference, indexedVariables };
    });
  }

  /** What commands of the terminal work on, and what they print. */
  private commandSession(led: Debugger): { readonly session: CommandSession; readonly printed: string[] } {
    const printed: string[] = [];
    const session: CommandSession = {
      debugger: led,
      print: (text) => printed.push(text),
      displays: this.displays,
      stopsAtEnd: this.leader?.stopsAtEnd === true,
      hasGoneOn: true,
      examined: this.examined,
    };
    return { session, printed };
  }

  /** Runs a command of the terminal; a resuming one goes on. */
  private command(led: Debugger, line: string): string {
    const { session, printed } = this.commandSession(led);
    const next = executeCommand(session, line);
    this.examined = session.examined;
    if (next !== undefined) this.go(next);
    return printed.join('\n');
  }

  /** What an expression is, its parts below it. */
  private shownValue(expression: string) {
    const shown = this.variables?.shown(expression);
    const { value = '', type = '', variablesReference = 0, indexedVariables, memoryReference } = shown ?? {};
    return { result: value, type, variablesReference, indexedVariables, memoryReference };
  }

  /** What is typed into the console: a command, or an expression. A variable goes before a command that is cut short. */
  private typed(led: Debugger, line: string): object {
    if (!beginsWithCommand(line) && isExpression(line)) {
      try {
        return this.shownValue(line);
      } catch (error) {
        if (!(error instanceof UnknownName)) throw error;
      }
    }
    return { result: this.command(led, line), variablesReference: 0 };
  }

  protected override evaluateRequest(
    response: DebugProtocol.EvaluateResponse,
    { expression, context, frameId }: DebugProtocol.EvaluateArguments,
  ): void {
    this.answer(response, (led) => {
      this.showFrameOf(frameId, led);
      return context === 'repl' ? this.typed(led, expression) : this.shownValue(expression);
    });
  }

  protected override completionsRequest(
    response: DebugProtocol.CompletionsResponse,
    { text, column, line = 1, frameId }: DebugProtocol.CompletionsArguments,
  ): void {
    this.answer(response, (led) => {
      this.showFrameOf(frameId, led);
      const shown = text.split('\n')[this.convertClientLineToDebugger(line) - 1] ?? text;
      const typed = shown.slice(0, Math.max(0, this.convertClientColumnToDebugger(column) - 1));
      const [words, replaced] = completions(this.commandSession(led).session, typed);
      const start = this.convertDebuggerColumnToClient(typed.length - replaced.length + 1);
      return { targets: words.map((label) => ({ label, start, length: replaced.length })) };
    });
  }

  protected override loadedSourcesRequest(response: DebugProtocol.LoadedSourcesResponse): void {
    this.answer(response, () => ({ sources: this.sources?.all() ?? [] }));
  }

  // Going on ---------------------------------------------------------------------------------------------------------------------

  private go(how: Resume): void {
    this.held = undefined;
    this.leader?.resume(how);
  }

  /** Selects the wave of a thread and goes on; answers first, so that the editor knows that it runs. */
  private goOn(response: DebugProtocol.Response, thread: number, how: () => Resume): void {
    this.answer(response, (led) => {
      this.requireStop();
      const w = this.waveOf(thread);
      if (w !== undefined && w !== led.selected && this.held?.wave !== undefined) led.select(w);
      // Steps are of the innermost function, whichever function's variables were looked at.
      led.frame = 0;
      const next = how();
      if (next.kind === 'back' && !led.past.isKept) {
        throw new WavesmithError('run/no-history', `There is no past to go back to: ${led.past.whyNotKept}.`);
      }
      const held = this.held;
      // A second request before this one is carried out finds nothing stopped.
      this.held = undefined;
      setImmediate(() => (held === undefined ? undefined : this.go(next)));
      return response.command === 'continue' ? { allThreadsContinued: true } : undefined;
    });
  }

  private requireStop(): void {
    if (this.held !== undefined) return;
    throw new WavesmithError('dap/not-stopped', 'Nothing is stopped: the kernel runs or has ended.');
  }

  private step(granularity: DebugProtocol.SteppingGranularity | undefined, over: boolean): Resume {
    const byLine = granularity !== 'instruction' && this.led?.lineAt(this.led.pc) !== undefined;
    return { kind: 'step', count: 1, unit: byLine ? 'line' : 'instruction', over };
  }

  protected override continueRequest(
    response: DebugProtocol.ContinueResponse,
    args: DebugProtocol.ContinueArguments,
  ): void {
    this.goOn(response, args.threadId, () => ({ kind: 'continue' }));
  }
  protected override nextRequest(response: DebugProtocol.NextResponse, args: DebugProtocol.NextArguments): void {
    this.goOn(response, args.threadId, () => this.step(args.granularity, true));
  }
  protected override stepInRequest(response: DebugProtocol.StepInResponse, args: DebugProtocol.StepInArguments): void {
    this.goOn(response, args.threadId, () => this.step(args.granularity, false));
  }
  protected override stepOutRequest(
    response: DebugProtocol.StepOutResponse,
    args: DebugProtocol.StepOutArguments,
  ): void {
    this.goOn(response, args.threadId, () => {
      const { led } = this;
      // Out of the kernel itself is to its end.
      const isInside = led?.selected !== undefined && led.framesOf(led.selected).length > 1;
      return isInside ? { kind: 'finish' } : { kind: 'continue' };
    });
  }
  protected override stepBackRequest(
    response: DebugProtocol.StepBackResponse,
    args: DebugProtocol.StepBackArguments,
  ): void {
    this.goOn(response, args.threadId, () => {
      const byLine = args.granularity !== 'instruction' && this.led?.lineAt(this.led.pc) !== undefined;
      const to: BackTarget = byLine ? 'line over' : 'instruction over';
      return { kind: 'back', to, count: 1 };
    });
  }
  protected override reverseContinueRequest(
    response: DebugProtocol.ReverseContinueResponse,
    args: DebugProtocol.ReverseContinueArguments,
  ): void {
    this.goOn(response, args.threadId, () => ({ kind: 'back', to: 'breakpoint', count: 1 }));
  }
  protected override pauseRequest(response: DebugProtocol.PauseResponse): void {
    this.answer(response, (led) => {
      // What is stopped would stop again as soon as it goes on.
      if (this.held === undefined) led.interrupt();
      return undefined;
    });
  }
  protected override terminateRequest(response: DebugProtocol.TerminateResponse): void {
    this.leader?.quit();
    this.sendResponse(response);
  }
  protected override disconnectRequest(
    response: DebugProtocol.DisconnectResponse,
    { terminateDebuggee }: DebugProtocol.DisconnectArguments,
  ): void {
    this.sendResponse(response);
    const { leader, launched } = this;
    if (terminateDebuggee !== false || leader === undefined || launched === undefined) {
      setImmediate(() => this.shutdown());
      return;
    }
    this.isLeft = true;
    leader.detach();
    void launched.catch(() => {}).then(() => this.finish());
  }

  override sendEvent(event: DebugProtocol.Event): void {
    if (!this.isLeft) super.sendEvent(event);
  }

  protected override gotoTargetsRequest(
    response: DebugProtocol.GotoTargetsResponse,
    { source, line }: DebugProtocol.GotoTargetsArguments,
  ): void {
    this.answer(response, () => {
      const asked = this.convertClientLineToDebugger(line);
      const found = this.sources?.addressesOf(source.path, source.sourceReference, asked);
      const targets = (found?.addresses ?? []).map((id) => ({
        id,
        label: `0x${id.toString(16)}`,
        line: this.convertDebuggerLineToClient(found?.line ?? asked),
      }));
      return { targets };
    });
  }
  protected override gotoRequest(
    response: DebugProtocol.GotoResponse,
    { threadId, targetId }: DebugProtocol.GotoArguments,
  ): void {
    this.answer(response, (led) => {
      this.requireStop();
      const w = this.waveOf(threadId);
      if (w !== undefined && w !== led.selected) led.select(w);
      if (led.selected === undefined) throw new WavesmithError('run/bad-command', 'No wave is stopped.');
      led.jump(led.selected, led.options.symbols.resolveInstruction(`0x${targetId.toString(16)}`));
      const stop: Stop = { reason: 'reached', wave: led.selected, pc: led.pc, time: led.time };
      setImmediate(() => this.showStop(stop));
      return undefined;
    });
  }

  // Breakpoints ------------------------------------------------------------------------------------------------------------------

  protected override setBreakPointsRequest(
    response: DebugProtocol.SetBreakpointsResponse,
    args: DebugProtocol.SetBreakpointsArguments,
  ): void {
    this.answer(response, () => {
      const line = (n: number): number => this.convertClientLineToDebugger(n);
      const wanted = (args.breakpoints ?? []).map((one) => ({ ...one, line: line(one.line) }));
      const breakpoints = this.breakpoints?.setInSource({ ...args, breakpoints: wanted }).breakpoints ?? [];
      const back = (n: number): number => this.convertDebuggerLineToClient(n);
      return { breakpoints: breakpoints.map((b) => (b.line === undefined ? b : { ...b, line: back(b.line) })) };
    });
  }
  protected override breakpointLocationsRequest(
    response: DebugProtocol.BreakpointLocationsResponse,
    { source, line, endLine = line }: DebugProtocol.BreakpointLocationsArguments,
  ): void {
    this.answer(response, () => {
      const [from, to] = [line, endLine].map((n) => this.convertClientLineToDebugger(n)) as [number, number];
      const lines = this.sources?.linesWithCode(source.path, source.sourceReference, from, to) ?? [];
      return { breakpoints: lines.map((n) => ({ line: this.convertDebuggerLineToClient(n) })) };
    });
  }
  protected override setFunctionBreakPointsRequest(
    response: DebugProtocol.SetFunctionBreakpointsResponse,
    args: DebugProtocol.SetFunctionBreakpointsArguments,
  ): void {
    this.answer(response, () => this.breakpoints?.setAtFunctions(args));
  }
  protected override setInstructionBreakpointsRequest(
    response: DebugProtocol.SetInstructionBreakpointsResponse,
    args: DebugProtocol.SetInstructionBreakpointsArguments,
  ): void {
    this.answer(response, () => this.breakpoints?.setAtInstructions(args));
  }
  protected override setDataBreakpointsRequest(
    response: DebugProtocol.SetDataBreakpointsResponse,
    args: DebugProtocol.SetDataBreakpointsArguments,
  ): void {
    this.answer(response, () => this.breakpoints?.setOnData(args));
  }
  protected override dataBreakpointInfoRequest(
    response: DebugProtocol.DataBreakpointInfoResponse,
    { variablesReference, name, frameId }: DebugProtocol.DataBreakpointInfoArguments,
  ): void {
    this.answer(response, (led) => {
      this.showFrameOf(frameId, led);
      const text = variablesReference === undefined ? name : this.variables?.watched(variablesReference, name);
      const why = text === undefined ? `${name} cannot be watched.` : whyNotWatched(led, name, text);
      return why === undefined
        ? { dataId: text, description: text, accessTypes: ['write', 'read', 'readWrite'] }
        : { dataId: null, description: why };
    });
  }
  protected override exceptionInfoRequest(response: DebugProtocol.ExceptionInfoResponse): void {
    this.answer(response, () => {
      const fault = this.held?.fault;
      return { exceptionId: fault?.code ?? 'none', description: fault?.message ?? '', breakMode: 'always' };
    });
  }

  // Code and memory --------------------------------------------------------------------------------------------------------------

  protected override sourceRequest(
    response: DebugProtocol.SourceResponse,
    { source, sourceReference }: DebugProtocol.SourceArguments,
  ): void {
    this.answer(response, () => {
      const asked = source?.sourceReference ?? sourceReference;
      if (asked !== LISTING) throw unknownId('source', asked);
      return { content: this.sources?.listing() ?? '' };
    });
  }

  protected override disassembleRequest(
    response: DebugProtocol.DisassembleResponse,
    { memoryReference, offset = 0, instructionOffset = 0, instructionCount }: DebugProtocol.DisassembleArguments,
  ): void {
    this.answer(response, (led) => {
      const pc = Number(memoryReference) + offset;
      const all = disassembled(led, this.sources, pc, instructionOffset, instructionCount);
      const back = (n: number): number => this.convertDebuggerLineToClient(n);
      return { instructions: all.map((one) => (one.line === undefined ? one : { ...one, line: back(one.line) })) };
    });
  }

  protected override readMemoryRequest(
    response: DebugProtocol.ReadMemoryResponse,
    { memoryReference, offset = 0, count }: DebugProtocol.ReadMemoryArguments,
  ): void {
    this.answer(response, (led) => {
      const { address, bytes } = readMemory(led, memoryReference, offset, count);
      const unreadable = Math.max(0, Math.trunc(count)) - bytes.length;
      return {
        address: `0x${address.toString(16)}`,
        data: Buffer.from(bytes).toString('base64'),
        ...(unreadable > 0 ? { unreadableBytes: unreadable } : {}),
      };
    });
  }

  protected override writeMemoryRequest(
    response: DebugProtocol.WriteMemoryResponse,
    { memoryReference, offset = 0, data, allowPartial = false }: DebugProtocol.WriteMemoryArguments,
  ): void {
    this.answer(response, (led) => {
      const w = led.selected;
      if (w === undefined) throw new WavesmithError('run/bad-command', 'No wave is stopped.');
      const { space, address } = writeTarget(memoryReference, offset);
      const all = bytesOfBase64(data);
      const bytes = allowPartial ? writePart(led, memoryReference, offset, all) : all;
      setBytes(led, w, space, address, bytes);
      return { bytesWritten: bytes.length };
    });
  }
}
