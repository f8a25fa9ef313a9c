// Room `cli/mcp`: the tools that `wavesmith mcp` gives to agents. Begin with this file, then tools.ts (what each tool takes and runs).
//
// Every call runs the command in a process of its own: what a kernel or a file does to it ends that call alone, standard output stays the
// protocol's, and a call that is cancelled or takes too long is killed.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { WavesmithError } from '../../base/index.ts';
import { parseCount } from '../run-common.ts';
import { version } from '../version.ts';
import { TOOLS, type Tool, type ToolFiles } from './tools.ts';

const INSTRUCTIONS = `Wavesmith reads, edits, runs and judges AMD GPU machine code without a GPU.
A baseline is a capture (X.wscap): one dispatch with its code, arguments and memory. Work so: 'time' shows where its waves stand still;
'disasm' gives text that assembles to the same bytes; change that text; 'check' and 'prove' are fast answers; 'evaluate' is the verdict.
Only ACCEPTED of 'evaluate' means right and faster. Times are modelled. Do not claim a speedup that 'evaluate' did not print.`;

/** Characters of one answer. */
const PAGE = 60_000;

/** Serves until the client closes standard input. */
export async function serveTools(options: { readonly root: string; readonly timeout: string }): Promise<void> {
  const root = rootOf(options.root);
  const seconds = parseCount(options.timeout, '--timeout') ?? 0;
  if (seconds < 1) throw new WavesmithError('cli/usage', '--timeout is a number of seconds from 1.');
  const running = new Set<AbortController>();
  const make = (): McpServer => {
    const server = new McpServer({ name: 'wavesmith', version: version() }, { instructions: INSTRUCTIONS });
    for (const tool of TOOLS) {
      const { name, title, description, inputSchema } = tool;
      const annotations = { readOnlyHint: !tool.isWriting, openWorldHint: false, idempotentHint: true };
      server.registerTool(name, { title, description, inputSchema, annotations }, async (input, context) => {
        const ending = new AbortController();
        running.add(ending);
        try {
          return await call(tool, input, root, AbortSignal.any([ending.signal, context.mcpReq.signal]), seconds);
        } finally {
          running.delete(ending);
        }
      });
    }
    return server;
  };
  const served = serveStdio(make);
  await new Promise<void>((done) => {
    process.stdin.once('end', done).once('close', done);
    process.once('SIGINT', done).once('SIGTERM', done);
  });
  for (const ending of running) ending.abort();
  await served.close();
}

function rootOf(path: string): string {
  if (!existsSync(path) || !statSync(path).isDirectory()) {
    throw new WavesmithError('io/read', `'${path}' is no folder.`, {
      file: path,
      hint: '--root names the folder of the work.',
    });
  }
  return realpathSync(path);
}

async function call(
  tool: Tool,
  input: unknown,
  root: string,
  signal: AbortSignal,
  seconds: number,
): Promise<CallToolResult> {
  let scratch: string | undefined;
  const files: ToolFiles = {
    existing: (path) => inside(root, path, true),
    output: (path) => inside(root, path, false),
    text: (name, content) => {
      scratch ??= mkdtempSync(join(tmpdir(), 'wavesmith-mcp-'));
      const path = join(scratch, name);
      writeFileSync(path, content);
      return path;
    },
    folder: () => {
      scratch ??= mkdtempSync(join(tmpdir(), 'wavesmith-mcp-'));
      return join(scratch, 'out');
    },
  };
  try {
    const argv = tool.argv(input, files);
    const { status, stdout, stderr, ended } = await runCommand(argv, root, signal, seconds);
    if (ended !== undefined) return failure(ended);
    // A command that could not do its work says so on standard error; `REJECTED`, findings and `different` are answers.
    if (status !== 0 && (stdout === '' || /(?:^|: )(?:error\[|internal error)/m.test(stderr))) return failure(stderr);
    const { offset } = input as { offset?: number | undefined };
    return { content: [{ type: 'text', text: pageOf(tool.present?.(stdout, status) ?? stdout, offset ?? 0) }] };
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return failure(error.format());
  } finally {
    if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true });
  }
}

const failure = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] });

function pageOf(text: string, offset: number): string {
  const rest = text.length - offset - PAGE;
  const page = text.slice(offset, offset + PAGE);
  return rest > 0 ? `${page}\n… ${rest} characters more: ask again with offset ${offset + PAGE}` : page;
}

/** A path as an absolute one below the root; links are followed first. Others are `mcp/outside`. */
function inside(root: string, path: string, mustExist: boolean): string {
  const wanted = resolve(root, path);
  if (mustExist && !existsSync(wanted)) {
    throw new WavesmithError('io/read', `Cannot read '${path}': no such file.`, { file: path });
  }
  let folder = wanted;
  while (!existsSync(folder)) folder = dirname(folder);
  const real = join(realpathSync(folder), relative(folder, wanted));
  if (real === root || real.startsWith(root === sep ? sep : `${root}${sep}`)) return real;
  throw new WavesmithError('mcp/outside', `'${basename(path)}' is not below the server's folder.`, {
    file: path,
    hint: `The server was started for '${root}'; 'wavesmith mcp --root DIR' chooses another.`,
  });
}

interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it was killed. */
  readonly ended: string | undefined;
}

function runCommand(
  argv: readonly string[],
  cwd: string,
  signal: AbortSignal,
  seconds: number,
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [process.argv[1] as string, ...argv], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let ended: string | undefined;
    const end = (why: string): void => {
      ended ??= why;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(() => end(`The call was ended after ${seconds} seconds.`), seconds * 1000);
    const cancel = (): void => end('The call was cancelled.');
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const text = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        text[name] += chunk;
      });
    }
    child.once('error', reject);
    child.once('close', (status) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      resolve({ status, ...text, ended });
    });
  });
}
