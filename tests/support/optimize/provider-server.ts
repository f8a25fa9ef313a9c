// A provider of language models on this machine: a real HTTP server that speaks Anthropic's or OpenAI's protocol and says what a script says.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Protocol } from '../../../src/optimize/model/recording.ts';

/** What the model does: a tool call, words, or an answer of the HTTP server. */
export type Line =
  | { readonly tool: string; readonly input: unknown }
  | { readonly text: string }
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | 'hang';

/** Of every question and answer. */
export const TOKENS = { input: 1000, output: 100 } as const;

export interface ProviderServer {
  readonly url: string;
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: unknown }[];
  close(): Promise<void>;
}

/** A body of a protocol with what the model does. */
export function answerBody(
  protocol: Protocol,
  line: { readonly tool: string; readonly input: unknown } | { readonly text: string },
  n: number,
): unknown {
  const id = `call_${n}`;
  if (protocol === 'anthropic') {
    const content =
      'tool' in line ? { type: 'tool_use', id, name: line.tool, input: line.input } : { type: 'text', text: line.text };
    return {
      ...{ id: `msg_${n}`, type: 'message', role: 'assistant', model: 'scripted', content: [content] },
      ...{ stop_reason: 'tool' in line ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { input_tokens: TOKENS.input, output_tokens: TOKENS.output },
    };
  }
  const call =
    'tool' in line
      ? { tool_calls: [{ id, type: 'function', function: { name: line.tool, arguments: JSON.stringify(line.input) } }] }
      : {};
  return {
    ...{ id: `chatcmpl-${n}`, object: 'chat.completion', created: 1, model: 'scripted' },
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'text' in line ? line.text : null, ...call },
        finish_reason: 'tool' in line ? 'tool_calls' : 'stop',
      },
    ],
    usage: {
      prompt_tokens: TOKENS.input,
      completion_tokens: TOKENS.output,
      total_tokens: TOKENS.input + TOKENS.output,
    },
  };
}

/** Starts it; `script` is asked for each answer, with what was sent. */
export async function providerServer(
  protocol: Protocol,
  script: (n: number, body: string) => Line,
): Promise<ProviderServer> {
  const requests: ProviderServer['requests'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const n = requests.length;
        requests.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(text) });
        const line = script(n, text);
        if (line === 'hang') return;
        const [status, body, headers] =
          'status' in line ? [line.status, line.body, line.headers ?? {}] : [200, answerBody(protocol, line, n), {}];
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
