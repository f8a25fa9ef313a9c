// `wavesmith optimize --provider`: a language model proposes, over HTTP; the ladder judges. The models here are scripts behind a real server.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Ledger } from '../src/optimize/index.ts';
import type { Protocol } from '../src/optimize/model/recording.ts';
import { record } from './support/captures.ts';
import { wavesmith } from './support/cli.ts';
import { type Line, type ProviderServer, providerServer, TOKENS } from './support/optimize/provider-server.ts';
import { SUBJECTS } from './support/optimize/subjects.ts';
import { variantObject } from './support/optimize/variants.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-optimize-model-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => join(folder, name);

/** The elementwise kernel with time wasted before its load. */
const NOPS = 20;
beforeAll(async () => {
  const { args, grid, block } = SUBJECTS.elementwise;
  const waste = `${'s_nop 15\n  '.repeat(NOPS)}s_lshl_b32`;
  const code = variantObject({ name: 'slow', of: 'elementwise', replace: [['s_lshl_b32', waste]] });
  await record(folder, 'slow.wscap', { code, args, grid, block });
});

const KEY = 'sk-test-0123456789';
const HALF = '\ts_nop 15\n'.repeat(NOPS);
const reason = 'Idle states that no hazard needs.';
const FASTER: Line = {
  tool: 'propose_edits',
  input: { reason, edits: [{ find: `${HALF}\ts_lshl_b32`, replace: '\ts_lshl_b32' }] },
};
const WRONG: Line = {
  tool: 'propose_edits',
  input: {
    reason: 'Less work.',
    edits: [{ find: `${HALF}\ts_lshl_b32 s3, s2, 6`, replace: '\ts_lshl_b32 s3, s2, 5' }],
  },
};
const STOP: Line = { tool: 'stop', input: { reason: 'Nothing is left.' } };

const servers: ProviderServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
});

/** Runs `optimize` with a scripted model; after the script it stops. */
async function optimize(protocol: Protocol, lines: readonly Line[], ...flags: string[]) {
  const server = await providerServer(protocol, (n) => lines[n] ?? STOP);
  servers.push(server);
  vi.stubEnv(protocol === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY', KEY);
  const model = ['--provider', protocol, '--model', 'scripted', '--url', server.url];
  const { code, out, err } = await wavesmith('optimize', path('slow.wscap'), ...model, '--json', ...flags);
  vi.unstubAllEnvs();
  return { code, err, out, result: JSON.parse(out), requests: server.requests };
}

/** What the model was told last. */
const lastWords = (requests: ProviderServer['requests']): string => JSON.stringify(requests.at(-1)?.body);

describe.each(['anthropic', 'openai-compatible'] as const)('%s', (protocol) => {
  test('a wrong proposal is rejected with the evidence, a right one is kept, the model stops', async () => {
    const { code, err, result, requests } = await optimize(protocol, [WRONG, FASTER], '-o', path('better.s'));
    expect([code, err]).toEqual([0, '']);
    expect(result.evaluation).toMatchObject({ verdict: 'accepted', reached: 'proved' });
    expect(result.steps).toMatchObject([{ reason, moves: [] }]);
    expect(result.steps[0].diff).toMatch(/^-\ts_nop 15$/m);
    expect(result.talk).toMatchObject({ answers: 3, proposals: 2, kept: 1, isFailure: false });
    expect(result.talk.ended).toBe('The model stopped: Nothing is left.');
    expect([result.talk.inputTokens, result.talk.outputTokens]).toEqual([3 * TOKENS.input, 3 * TOKENS.output]);
    expect(readFileSync(path('better.s'), 'utf8')).not.toContain('s_nop 15');
    // The briefing has what an expert would look at.
    const first = JSON.stringify(requests[0]?.body);
    for (const words of ['modelled on mi300x', 'limited by', ';@', 'trim-nop at', 'Least possible time'])
      expect(first).toContain(words);
    expect(JSON.stringify(requests[1]?.body)).toContain('Rejected at equivalence');
    expect(lastWords(requests)).toContain('Kept: ');
    // The key goes to the provider, and nowhere else.
    const header = protocol === 'anthropic' ? requests[0]?.headers['x-api-key'] : requests[0]?.headers.authorization;
    expect(header).toContain(KEY);
    expect(JSON.stringify(requests.map((r) => r.body))).not.toContain(KEY);
  });

  test('is recorded, and the recording plays the same search without the provider', async () => {
    const file = path(`${protocol}.json`);
    const { result, out } = await optimize(protocol, [WRONG, FASTER], '--record', file);
    const text = readFileSync(file, 'utf8');
    expect(text + out).not.toContain(KEY);
    expect(JSON.parse(text)).toMatchObject({ protocol, model: 'scripted', exchanges: [{ status: 200 }, {}, {}] });
    const played = await wavesmith('optimize', path('slow.wscap'), '--provider', `replay:${file}`, '--json');
    expect([played.code, played.err]).toEqual([0, '']);
    expect(JSON.parse(played.out)).toEqual(result);
  });
});

test('patches with annotations, and moves of the list', async () => {
  const listing =
    'k:\n\ts_load_dwordx4 s[4:7], s[0:1], 0x0\n\ts_load_dwordx2 s[8:9], s[0:1], 0x10\n\ts_nop 15\n\ts_nop 15\n';
  const patch = createTwoFilesPatch('a', 'b', listing, listing.replace('\ts_nop 15\n', ''), '', '', { context: 2 });
  const annotated = patch.replace('0x10\n', '0x10 ;@ 3.0%, lgkmcnt 80\n');
  const lines: Line[] = [
    { tool: 'propose_patch', input: { reason, patch: annotated } },
    { tool: 'propose_moves', input: { reason, moves: [0, 0] } },
    { tool: 'propose_moves', input: { reason, moves: [999] } },
  ];
  const { result, requests } = await optimize('openai-compatible', lines);
  expect(result.steps).toHaveLength(2);
  expect(result.steps[1].moves).toHaveLength(1);
  expect(lastWords(requests)).toContain('There is no move 999.');
});

test('what cannot be built is told to the model', async () => {
  const edit = (find: string, replace: string): Line => ({
    tool: 'propose_edits',
    input: { reason, edits: [{ find, replace }] },
  });
  const lines = [
    edit('s_nop 15', 's_nop 14'),
    edit('not there', ''),
    edit('s_endpgm', 'v_nonsense v0'),
    { tool: 'propose_patch', input: { reason, patch: 'make it fast' } },
    { tool: 'propose_edits', input: { edits: 'all' } },
    edit('s_endpgm', 's_endpgm'),
    { tool: 'run_shell', input: { command: 'rm -rf /' } },
  ];
  const { code, result, requests } = await optimize('anthropic', lines);
  expect([code, result.steps]).toEqual([3, []]);
  const words = lastWords(requests);
  for (const expected of [
    'more than once',
    'is not there',
    'does not assemble',
    'no unified diff',
    'same code',
    'run_shell',
  ]) {
    expect(words).toContain(expected);
  }
});

describe('a talk ends', () => {
  const words: Line = { text: 'I think that it could be faster.' };
  test.each([
    ['when nothing is proposed', [words, words], 3, 'The model proposed nothing in 2 answers.', []],
    ['after its turns', [words, WRONG], 3, '1 answers were asked for.', ['--turns', '1']],
    ['before its tokens are spent', [WRONG], 3, /^The budget of 100 tokens/, ['--max-tokens', '100']],
    ['before its money is spent', [WRONG], 3, /^The budget of \$0.01 /, ['--max-cost', '0.01', '--price', '1,5']],
    [
      'when the provider refuses',
      [{ status: 401, body: { error: { message: `bad key ${KEY}` } } }],
      1,
      /status 401: bad key \[key\]/,
      [],
    ],
    [
      'when it answers nonsense',
      [{ status: 200, body: 'surely' }],
      1,
      /^The provider cannot be asked|makes no sense|status 200/,
      [],
    ],
    ['when it never answers', ['hang'], 1, 'The provider did not answer in 1 seconds.', ['--timeout', '1']],
  ] as const)('%s', async (_what, lines, code, ended, flags) => {
    const { code: status, result, out } = await optimize('openai-compatible', lines as readonly Line[], ...flags);
    expect([status, result.steps]).toEqual([code, []]);
    expect(result.talk.ended).toMatch(ended);
    expect(out).not.toContain(KEY);
  });

  test('a provider at its rate limit is asked again; what was found before it failed stays', async () => {
    const later: Line = { status: 429, body: { error: { message: 'slow down' } }, headers: { 'retry-after-ms': '10' } };
    const lines: Line[] = [later, FASTER, { status: 400, body: { error: { message: 'too long' } } }];
    const { code, result } = await optimize('openai-compatible', lines);
    expect([code, result.evaluation.verdict]).toEqual([0, 'accepted']);
    expect(result.talk).toMatchObject({
      isFailure: true,
      answers: 1,
      ended: expect.stringContaining('status 400: too long'),
    });
  });
});

test('a talk that was ended goes on: what the ledger has is not asked for again', async () => {
  const lines = [WRONG, FASTER];
  const first = await optimize('openai-compatible', lines, '--turns', '1', '--ledger', path('talk.db'));
  expect(first.requests).toHaveLength(1);
  // Of the first answer the server is not asked again: it says the second at once.
  const second = await optimize('openai-compatible', lines.slice(1), '--ledger', path('talk.db'));
  expect(second.requests).toHaveLength(2);
  const whole = await optimize('openai-compatible', lines, '--ledger', path('whole.db'));
  expect(second.result.talk.answers).toBe(3);
  expect(second.result.steps).toEqual(whole.result.steps);
  expect(readFileSync(path('talk.db'), 'latin1')).not.toContain(KEY);
  // Another model is told what was tried.
  const server = await providerServer('openai-compatible', () => STOP);
  servers.push(server);
  await wavesmith(
    'optimize',
    path('slow.wscap'),
    '--provider',
    'openai-compatible',
    '--model',
    'other',
    '--url',
    server.url,
    '--ledger',
    path('talk.db'),
  );
  expect(JSON.stringify(server.requests[0]?.body)).toContain('Tried before');
  const ledger = Ledger.open(path('talk.db'));
  expect(ledger.counts.evaluations).toBe(1);
  ledger.close();
});

describe('refused before anything is sent', () => {
  const remote = ['--provider', 'openai-compatible', '--model', 'm', '--url', 'https://models.example/v1'];
  test.each([
    [remote, 1, 'model/upload-not-allowed'],
    [[...remote, '--allow-upload', 'other.example'], 1, 'model/upload-not-allowed'],
    [[...remote, '--allow-upload', 'models.example'], 1, 'model/no-key'],
    [['--provider', 'anthropic', '--model', 'm'], 1, 'model/upload-not-allowed'],
    [['--provider', 'openai-compatible', '--model', 'm', '--url', 'http://models.example/v1'], 1, 'model/insecure'],
    [['--provider', 'openai-compatible', '--model', 'm'], 2, 'cli/usage'],
    [['--provider', 'anthropic'], 2, 'cli/usage'],
    [['--provider', 'oracle'], 2, 'cli/usage'],
    [['--provider', 'anthropic', '--max-cost', '1'], 2, 'cli/usage'],
    [['--provider', 'replay:/no/such/file'], 1, 'io/read'],
  ])('%j', async (flags, code, error) => {
    vi.stubEnv('OPENAI_API_KEY', '');
    const result = await wavesmith('optimize', path('slow.wscap'), ...flags);
    vi.unstubAllEnvs();
    expect(result).toMatchObject({ code, err: expect.stringContaining(error) });
  });

  test.each([
    '',
    '[]',
    '{"format":"wavesmith-conversation"}',
    '{"format":"wavesmith-conversation","version":1,"protocol":"smoke","model":"m","exchanges":[]}',
  ])('a recording that is none: %s', async (text) => {
    writeFileSync(path('bad.json'), text);
    const result = await wavesmith('optimize', path('slow.wscap'), '--provider', `replay:${path('bad.json')}`);
    expect(result).toMatchObject({ code: 1, err: expect.stringContaining('model/recording') });
  });

  test('a host that redirects gets nothing sent on', async () => {
    const to: Line = { status: 307, body: '', headers: { location: 'https://models.example/v1/chat/completions' } };
    const { code, result } = await optimize('openai-compatible', [to, to, to, to, to]);
    expect([code, result.talk.isFailure]).toEqual([1, true]);
  });
});

test('a recording that ends says so', async () => {
  const recording = {
    format: 'wavesmith-conversation',
    version: 1,
    protocol: 'openai-compatible',
    model: 'm',
    exchanges: [],
  };
  writeFileSync(path('empty.json'), JSON.stringify(recording));
  const { code, out } = await wavesmith(
    'optimize',
    path('slow.wscap'),
    '--provider',
    `replay:${path('empty.json')}`,
    '-o',
    path('none.co'),
    '--ledger',
    path('ended.db'),
  );
  const ledger = Ledger.open(path('ended.db'));
  expect(ledger.faults).toEqual([{ code: 'model/failed', message: expect.stringContaining('status 410') }]);
  ledger.close();
  expect([code, out]).toEqual([1, expect.stringContaining('status 410: the recording has no more answers')]);
  expect(existsSync(path('none.co'))).toBe(false);
});
