// The talk with a language model. What is asked, how often, for how much, and what an answer is worth are decided here and by the ladder; the
// model only proposes. A provider that refuses, times out or talks nonsense ends the talk, and what was found until then stays.
import { APICallError, generateText, type ModelMessage, RetryError, type ToolSet, tool } from 'ai';
import * as z from 'zod';
import { sha256 } from '../hash.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Provider } from './provider.ts';
import type { Proposal, Workshop } from './workshop.ts';

export interface TalkOptions {
  /** Answers that may be asked for. */
  readonly turns: number;
  /** Tokens of all questions and answers. */
  readonly maxTokens: number;
  /** US dollars, by the prices. */
  readonly maxCost?: number | undefined;
  /** US dollars for a million tokens. */
  readonly price?: { readonly input: number; readonly output: number } | undefined;
  /** Seconds that one answer may take. */
  readonly timeout: number;
  /** The briefing is kept here, so that a talk that goes on begins with the same words. */
  readonly ledger?: Ledger | undefined;
  /** Name of the work in the ledger. */
  readonly work: string;
  readonly onTurn?: ((text: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How a talk went. */
export interface Talk {
  readonly model: string;
  readonly answers: number;
  readonly proposals: number;
  readonly kept: number;
  /** Proposals in their order, with what the model was told of them. */
  readonly judgements: readonly { readonly reason: string; readonly isKept: boolean; readonly words: string }[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; undefined without prices. */
  readonly cost: number | undefined;
  /** Why it ended, as a sentence. */
  readonly ended: string;
  /** Whether the provider failed. */
  readonly isFailure: boolean;
}

/** Tokens that one answer may have. */
const ANSWER_TOKENS = 16_000;
/** Characters of a token, at least: the guess of what a question costs is never below what it does cost. */
const CHARACTERS_A_TOKEN = 2.5;
/** Answers without a proposal that follow each other before the talk ends. */
const MAX_SILENCE = 2;
const RETRIES = 3;
const MILLION = 1e6;

const reason = z
  .string()
  .min(1)
  .max(2000)
  .describe('why it is faster, and why the result stays the same; one or two sentences');

function toolsOf({ what, hasMoves }: Workshop): ToolSet {
  const edits = z
    .array(
      z.object({
        find: z.string().min(1).describe('text that is there exactly once, copied exactly'),
        replace: z.string().describe('what stands in its place'),
      }),
    )
    .min(1)
    .max(200);
  const one = (description: string, inputSchema: z.ZodType<unknown>): ToolSet[string] =>
    tool({ description, inputSchema }) as ToolSet[string];
  const judged = 'It is built and judged at once, on top of the best so far.';
  return {
    propose_edits: one(`Changes ${what} by replacing pieces of it. ${judged}`, z.object({ reason, edits })),
    propose_patch: one(`Changes ${what} by a unified diff. ${judged}`, z.object({ reason, patch: z.string().min(1) })),
    stop: one('Ends the work: nothing is left that is worth a try.', z.object({ reason })),
    ...(hasMoves && {
      propose_moves: one(
        'Makes moves of the list, by their numbers. The list is of the best so far, and is given again when one is kept.',
        z.object({ reason, moves: z.array(z.number().int().min(0)).min(1).max(100) }),
      ),
    }),
  };
}

/** Talks until the model stops, nothing is left to spend, or the provider fails. Throws for nothing that the provider does. */
export async function talk(provider: Provider, workshop: Workshop, options: TalkOptions): Promise<Talk> {
  return await new Conversation(provider, workshop, options).run();
}

class Conversation {
  private readonly provider: Provider;
  private readonly workshop: Workshop;
  private readonly options: TalkOptions;
  private readonly messages: ModelMessage[] = [];
  private readonly tools: ToolSet;
  private answers = 0;
  private readonly judgements: Talk['judgements'][number][] = [];
  private inputTokens = 0;
  private outputTokens = 0;

  constructor(provider: Provider, workshop: Workshop, options: TalkOptions) {
    this.provider = provider;
    this.workshop = workshop;
    this.options = options;
    this.tools = toolsOf(workshop);
  }

  private get cost(): number | undefined {
    const { price } = this.options;
    if (price === undefined) return undefined;
    return (this.inputTokens * price.input + this.outputTokens * price.output) / MILLION;
  }

  async run(): Promise<Talk> {
    const { ended, isFailure } = await this.turns();
    const { answers, judgements, inputTokens, outputTokens, cost } = this;
    const [proposals, kept] = [judgements.length, judgements.filter((j) => j.isKept).length];
    const { name: model } = this.provider;
    return { model, answers, proposals, kept, judgements, inputTokens, outputTokens, cost, ended, isFailure };
  }

  private async turns(): Promise<{ readonly ended: string; readonly isFailure: boolean }> {
    const { turns, signal, onTurn } = this.options;
    this.messages.push({ role: 'user', content: await this.briefing() });
    const end = (ended: string, isFailure = false) => ({ ended, isFailure });
    const isStopped = (): boolean => signal?.aborted ?? false;
    for (let silence = 0; ; ) {
      if (isStopped()) return end('It was stopped.');
      if (this.answers >= turns) return end(`${turns} answers were asked for.`);
      const broke = this.isBroke();
      if (broke !== undefined) return end(broke);
      onTurn?.(`asking ${this.provider.name}, ${this.answers} answers so far`);
      let isSilent: boolean;
      try {
        const stopped = await this.turn();
        if (stopped.reason !== undefined) return end(`The model stopped: ${stopped.reason}`);
        isSilent = stopped.isSilent;
      } catch (error) {
        if (isStopped()) return end('It was stopped.');
        return end(this.provider.redact(sentenceOf(error, this.options.timeout)), true);
      }
      silence = isSilent ? silence + 1 : 0;
      if (silence >= MAX_SILENCE) return end(`The model proposed nothing in ${MAX_SILENCE} answers.`);
      if (isSilent) this.messages.push({ role: 'user', content: 'Answer with a tool call: a proposal, or stop.' });
    }
  }

  private async briefing(): Promise<string> {
    const { ledger, work } = this.options;
    const key = sha256(`briefing\n${this.provider.name}\n${work}`);
    const known = ledger?.message(key);
    if (known !== undefined) return known;
    const text = await this.workshop.briefing();
    ledger?.addMessage(key, text);
    return text;
  }

  /** Why the next question is too dear; undefined when it is not. */
  private isBroke(): string | undefined {
    const { maxTokens, maxCost, price } = this.options;
    const question = Math.ceil(JSON.stringify(this.messages).length / CHARACTERS_A_TOKEN);
    const spent = this.inputTokens + this.outputTokens;
    if (spent + question + ANSWER_TOKENS > maxTokens) {
      return `The budget of ${maxTokens} tokens would not hold another answer; ${spent} are spent.`;
    }
    if (maxCost === undefined || price === undefined) return undefined;
    const next = (question * price.input + ANSWER_TOKENS * price.output) / MILLION;
    const cost = this.cost ?? 0;
    if (cost + next <= maxCost) return undefined;
    return `The budget of $${maxCost} would not hold another answer; $${cost.toFixed(4)} are spent.`;
  }

  /** One question and what follows from its answer. */
  private async turn(): Promise<{ readonly reason: string | undefined; readonly isSilent: boolean }> {
    const { timeout, signal } = this.options;
    const limit = AbortSignal.timeout(timeout * 1000);
    const result = await generateText({
      model: this.provider.model,
      system: this.workshop.rules,
      messages: this.messages,
      tools: this.tools,
      maxOutputTokens: ANSWER_TOKENS,
      maxRetries: RETRIES,
      abortSignal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
    this.answers++;
    this.inputTokens += result.usage.inputTokens ?? 0;
    this.outputTokens += result.usage.outputTokens ?? 0;
    this.messages.push(...result.response.messages);
    let stop: string | undefined;
    let isSilent = true;
    for (const call of result.toolCalls) {
      // The library has answered a call that is none of ours or does not fit its schema.
      if (call.invalid === true) continue;
      isSilent = false;
      if (call.toolName === 'stop') stop ??= (call.input as { reason: string }).reason;
      const words =
        call.toolName === 'stop'
          ? 'The work ends.'
          : await this.propose({ kind: kindOf(call.toolName), ...(call.input as object) } as Proposal);
      this.messages.push({
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: call.toolCallId,
            toolName: call.toolName,
            output: { type: 'text', value: words },
          },
        ],
      });
    }
    return { reason: stop, isSilent };
  }

  private async propose(proposal: Proposal): Promise<string> {
    const { isKept, words } = await this.workshop.judge(proposal);
    // What follows the first paragraph is the text to go on with.
    this.judgements.push({ reason: proposal.reason, isKept, words: isKept ? (words.split('\n\n')[0] ?? '') : words });
    return words;
  }
}

const kindOf = (name: string): string => name.slice('propose_'.length);

/** What a provider did wrong, as a sentence. */
function sentenceOf(error: unknown, timeout: number): string {
  if (RetryError.isInstance(error)) {
    const last = sentenceOf(error.lastError, timeout);
    return error.errors.length > 1 ? `${last} It was asked ${error.errors.length} times.` : last;
  }
  if (APICallError.isInstance(error)) {
    const text = error.message.trim().replace(/\.$/, '');
    const isAnswer = error.statusCode !== undefined && error.statusCode >= 400;
    return isAnswer
      ? `The provider answered with status ${error.statusCode}: ${text}.`
      : `The provider cannot be asked: ${text}.`;
  }
  const name = (error as Error).name;
  if (name === 'TimeoutError' || name === 'AbortError') return `The provider did not answer in ${timeout} seconds.`;
  if (/^AI_/.test(name))
    return `The provider's answer makes no sense: ${(error as Error).message.trim().replace(/\.$/, '')}.`;
  throw error;
}
