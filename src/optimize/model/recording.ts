// Recorded conversations. A recording is played by a server on this machine that speaks the provider's protocol, so that everything between
// is what it is with a real provider. Answers come in the order in which they were recorded.
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';
import { WavesmithError } from '../../base/index.ts';

export const PROTOCOLS = ['anthropic', 'openai-compatible'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** One question and its answer. */
export interface Exchange {
  readonly status: number;
  /** Headers of the answer that say when to ask again. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body that was sent; a recording that was written by hand has none. */
  readonly request?: unknown;
  readonly response: unknown;
}

export interface Recording {
  readonly format: 'wavesmith-conversation';
  readonly version: 1;
  readonly protocol: Protocol;
  readonly model: string;
  /** Where it is from, for who reads it. */
  readonly note?: string | undefined;
  readonly exchanges: readonly Exchange[];
}

const SCHEMA = z.object({
  format: z.literal('wavesmith-conversation'),
  version: z.literal(1),
  protocol: z.enum(PROTOCOLS),
  model: z.string().min(1),
  note: z.string().optional(),
  exchanges: z.array(
    z.object({
      status: z.number().int().min(100).max(599),
      headers: z.record(z.string(), z.string()).optional(),
      request: z.unknown().optional(),
      response: z.unknown(),
    }),
  ),
});

/** Reads a recording; what is none is `model/recording`. */
export function readRecording(path: string): Recording {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new WavesmithError('io/read', `Cannot read '${path}': ${(cause as Error).message}.`, { file: path, cause });
  }
  const bad = (reason: string, cause?: unknown): WavesmithError =>
    new WavesmithError('model/recording', `'${path}' is no recorded conversation: ${reason}.`, {
      file: path,
      hint: "'--record FILE' makes one.",
      cause,
    });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw bad((cause as Error).message, cause);
  }
  const { success, data, error } = SCHEMA.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  throw bad(`${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'of another form'}`, error);
}

/** A server that plays a recording. */
export interface Player {
  /** Where the provider's API is. */
  readonly url: string;
  close(): Promise<void>;
}

/** Status of the answer when the recording has no more. Not one of those that are tried again. */
const GONE = 410;

/** Starts the server on a free port of this machine. */
export async function play(recording: Recording): Promise<Player> {
  let next = 0;
  const server: Server = createServer((request, response) => {
    request.resume().on('end', () => {
      const exchange = recording.exchanges[next++];
      const {
        status,
        headers = {},
        response: body,
      } = exchange ?? {
        status: GONE,
        response: { error: { type: 'recording', message: 'the recording has no more answers' } },
      };
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
    });
  });
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done));
  // A command that fails before anything is asked ends nevertheless.
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
