// Which model is asked, over which wire.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';
import { WavesmithError } from '../../base/index.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Exchange, PROTOCOLS, type Protocol, play, type Recording, readRecording } from './recording.ts';
import { requireUpload, wireFetch } from './wire.ts';

export interface ProviderOptions {
  /** `anthropic`, `openai-compatible`, or `replay:FILE`. */
  readonly provider: string;
  readonly model?: string | undefined;
  /** Where the API is; needed by openai-compatible. */
  readonly url?: string | undefined;
  readonly allowUpload: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly ledger?: Ledger | undefined;
}

/** A model that can be asked. */
export interface Provider {
  readonly model: LanguageModel;
  readonly name: string;
  /** Takes the key out of a text. */
  redact(text: string): string;
  /** What was said until now. */
  recording(): Recording;
  close(): Promise<void>;
}

/** The variable that holds the key. */
const KEYS: Readonly<Record<Protocol, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  'openai-compatible': 'OPENAI_API_KEY',
};
const ANTHROPIC_URL = 'https://api.anthropic.com/v1';
const REPLAY = 'replay:';
/** A server on this machine may need no key, and the protocol wants one. */
const NO_KEY = 'none';

/** Opens a provider. Nothing is sent yet; a host that was not named is refused here already. */
export async function openProvider(options: ProviderOptions): Promise<Provider> {
  const { provider } = options;
  if (provider.startsWith(REPLAY)) {
    const recording = readRecording(provider.slice(REPLAY.length));
    const player = await play(recording);
    const { protocol, model } = recording;
    // The player gives its answers in order, so each is asked for, also those that the ledger has.
    return providerOf(protocol, model, player.url, NO_KEY, { ...options, ledger: undefined }, () => player.close());
  }
  const protocol = PROTOCOLS.find((p) => p === provider);
  if (protocol === undefined) {
    throw new WavesmithError('cli/usage', `--provider is ${PROTOCOLS.join(', ')} or ${REPLAY}FILE, not '${provider}'.`);
  }
  const url = options.url ?? (protocol === 'anthropic' ? ANTHROPIC_URL : undefined);
  if (url === undefined || !URL.canParse(url)) {
    throw new WavesmithError('cli/usage', '--provider openai-compatible needs --url, the address of its API.', {
      hint: 'For a server on this machine: --url http://127.0.0.1:8000/v1',
    });
  }
  if (options.model === undefined) throw new WavesmithError('cli/usage', `--provider ${provider} needs --model.`);
  requireUpload(url, options.allowUpload);
  const variable = KEYS[protocol];
  const key = options.environment[variable];
  const isLocal = new URL(url).protocol === 'http:';
  if ((key === undefined || key === '') && !isLocal) {
    throw new WavesmithError('model/no-key', `The environment variable ${variable} holds no key.`, {
      hint: 'Keys are read from the environment only.',
    });
  }
  return providerOf(protocol, options.model, url, key || NO_KEY, options, async () => {});
}

function providerOf(
  protocol: Protocol,
  model: string,
  url: string,
  key: string,
  { allowUpload, ledger }: ProviderOptions,
  close: () => Promise<void>,
): Provider {
  const exchanges: Exchange[] = [];
  const fetch = wireFetch({ allowed: allowUpload, ledger, onExchange: (e) => exchanges.push(e) });
  const settings = { baseURL: url, apiKey: key, fetch };
  return {
    model:
      protocol === 'anthropic'
        ? createAnthropic(settings)(model)
        : createOpenAICompatible({ ...settings, name: 'openai-compatible' })(model),
    name: model,
    redact: (text) => (key === NO_KEY ? text : text.replaceAll(key, '[key]')),
    recording: () => ({ format: 'wavesmith-conversation', version: 1, protocol, model, exchanges: [...exchanges] }),
    close,
  };
}
