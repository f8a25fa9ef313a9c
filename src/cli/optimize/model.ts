// Room `cli/optimize`: what `wavesmith optimize` takes beside its target. Begin with this file: a language model on the command line.
import type { Command } from 'commander';
import { WavesmithError } from '../../base/index.ts';
import type { Ledger } from '../../optimize/index.ts';
import type { Talk, TalkOptions } from '../../optimize/model/conversation.ts';
import type { Workshop } from '../../optimize/model/workshop.ts';
import { parseCount } from '../run-common.ts';
import { writeOutput } from '../support.ts';

export interface ModelFlags {
  provider?: string;
  model?: string;
  url?: string;
  allowUpload: string[];
  record?: string;
  turns: string;
  maxTokens: string;
  maxCost?: string;
  price?: string;
  timeout: string;
}

const collect = (value: string, previous: string[]): string[] => [...previous, value];

/** Flags of a language model. */
export function addModelOptions(command: Command): Command {
  return command
    .option('--provider <name>', 'a language model proposes changes: anthropic, openai-compatible, or replay:FILE')
    .option('--model <name>', 'which one; keys come from ANTHROPIC_API_KEY or OPENAI_API_KEY')
    .option('--url <url>', "where the provider's API is")
    .option(
      '--allow-upload <host>',
      'the kernel may be sent to this host (repeat; this machine needs none)',
      collect,
      [],
    )
    .option('--record <file>', 'keep the conversation, for replay:FILE')
    .option('--turns <n>', 'answers that may be asked for', '12')
    .option('--max-tokens <n>', 'tokens of all questions and answers', '400000')
    .option('--max-cost <usd>', 'what it may cost, with --price')
    .option('--price <in,out>', 'US dollars for a million tokens of questions, of answers')
    .option('--timeout <seconds>', 'time that one answer may take', '300');
}

/** A model that was opened. */
export interface Model {
  /** Lets it work. What it found is in the workshop; the recording is written in any case. */
  talk(workshop: Workshop, how: Pick<TalkOptions, 'work' | 'onTurn' | 'signal'>): Promise<Talk>;
}

/** Opens the model that the flags name; undefined when they name none. Nothing is sent yet. */
export async function openModel(flags: ModelFlags, ledger: Ledger | undefined): Promise<Model | undefined> {
  const { provider, model, url, allowUpload, record } = flags;
  if (provider === undefined) return undefined;
  const limits = limitsOf(flags);
  // The libraries of providers are large: who asks no model does not load them.
  const { openProvider } = await import('../../optimize/model/provider.ts');
  const { talk } = await import('../../optimize/model/conversation.ts');
  const opened = await openProvider({ provider, model, url, allowUpload, environment: process.env, ledger });
  return {
    talk: async (workshop, how) => {
      try {
        return await talk(opened, workshop, { ...limits, ledger, ...how });
      } finally {
        if (record !== undefined) writeOutput(record, `${JSON.stringify(opened.recording(), null, 1)}\n`);
        await opened.close();
      }
    },
  };
}

/** How a talk went: what was not kept and why, and a line about the whole. */
export function talkLines(talk: Talk): string[] {
  const { model, answers, proposals, kept, judgements, inputTokens, outputTokens, cost, ended } = talk;
  const price = cost === undefined ? '' : `, $${cost.toFixed(4)}`;
  return [
    ...judgements
      .filter((j) => !j.isKept)
      .flatMap(({ reason, words }) => [`not kept: ${reason}`, `  ${words.split('\n').join('\n  ')}`]),
    `${model}: ${answers} answers, ${proposals} proposals, ${kept} kept; ${inputTokens} and ${outputTokens} tokens${price}. ${ended}`,
  ];
}

function limitsOf(flags: ModelFlags) {
  const price = flags.price === undefined ? undefined : pricesOf(flags.price);
  const maxCost = flags.maxCost === undefined ? undefined : dollars(flags.maxCost, '--max-cost');
  if (maxCost !== undefined && price === undefined) {
    throw new WavesmithError('cli/usage', '--max-cost needs --price: prices change, and none are built in.');
  }
  return {
    turns: atLeastOne(flags.turns, '--turns'),
    maxTokens: atLeastOne(flags.maxTokens, '--max-tokens'),
    timeout: atLeastOne(flags.timeout, '--timeout'),
    maxCost,
    price,
  };
}

function pricesOf(text: string): { readonly input: number; readonly output: number } {
  const [input, output, ...rest] = text.split(',');
  if (input === undefined || output === undefined || rest.length > 0) {
    throw new WavesmithError('cli/usage', `--price is two numbers, not '${text}'.`);
  }
  return { input: dollars(input, '--price'), output: dollars(output, '--price') };
}

function dollars(text: string, flag: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new WavesmithError('cli/usage', `${flag} is in US dollars, not '${text}'.`);
}

/** A number from 1. */
export function atLeastOne(text: string, flag: string): number {
  const count = parseCount(text, flag) ?? 0;
  if (count >= 1) return count;
  throw new WavesmithError('cli/usage', `${flag} is a number from 1.`);
}
