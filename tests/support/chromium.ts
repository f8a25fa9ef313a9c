// A headless Chromium over the DevTools protocol on pipes, for tests of pages. Tests skip with a message when it is absent.
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** The path of Chromium, or undefined with a message. */
export function findChromium(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const candidates = [process.env.WAVESMITH_CHROMIUM ?? ''].concat(
    (process.env.PATH ?? '').split(delimiter).flatMap((folder) => names.map((name) => join(folder, name))),
  );
  for (const path of candidates) {
    if (path === '') continue;
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {}
  }
  console.warn("skipped: Chromium is not installed (Debian: 'apt-get install chromium').");
  return undefined;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

/** One browser with one page. */
export class Page {
  /** Uncaught exceptions, console errors and policy violations seen so far. */
  readonly problems: string[] = [];
  /** URLs that the page asked for. */
  readonly requests: string[] = [];
  private readonly process: ChildProcess;
  private readonly profile: string;
  private readonly waiting = new Map<number, (message: Message) => void>();
  private nextId = 1;
  private session: string | undefined;

  private constructor(path: string) {
    this.profile = mkdtempSync(join(tmpdir(), 'wavesmith-chromium-'));
    // Containers give /dev/shm 64 MB.
    const flags = [
      '--headless',
      '--disable-dev-shm-usage',
      '--no-sandbox',
      '--disable-gpu',
      '--remote-debugging-pipe',
      `--user-data-dir=${this.profile}`,
    ];
    this.process = spawn(path, [...flags, '--hide-scrollbars', 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    let rest = '';
    (this.process.stdio[4] as Readable).setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\0');
      rest = parts.pop() ?? '';
      for (const part of parts) this.receive(JSON.parse(part) as Message);
    });
  }

  private receive(message: Message): void {
    if (message.id !== undefined) {
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
    } else if (message.method === 'Runtime.exceptionThrown') this.problems.push(JSON.stringify(message.params));
    else if (message.method === 'Log.entryAdded') this.problems.push(JSON.stringify(message.params));
    else if (message.method === 'Network.requestWillBeSent') {
      this.requests.push(String((message.params?.request as { url: string } | undefined)?.url));
    }
  }

  /** Sends one protocol command. */
  send(method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const id = this.nextId++;
    const text = JSON.stringify({
      id,
      method,
      params,
      ...(this.session === undefined ? {} : { sessionId: this.session }),
    });
    return new Promise((resolve, reject) => {
      this.waiting.set(id, ({ result, error }) => {
        if (error === undefined) resolve(result ?? {});
        else reject(new Error(`${method}: ${error.message}`));
      });
      (this.process.stdio[3] as Writable).write(`${text}\0`);
    });
  }

  /** Starts a browser. */
  static async start(path: string): Promise<Page> {
    const page = new Page(path);
    const { targetId } = await page.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await page.send('Target.attachToTarget', { targetId, flatten: true });
    page.session = String(sessionId);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await page.send(`${domain}.enable`);
    await page.resize(1280, 1600);
    return page;
  }

  async resize(width: number, height: number): Promise<void> {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  }

  /** The colour scheme the page sees. */
  async scheme(value: 'light' | 'dark'): Promise<void> {
    await this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
  }

  /** Opens a URL and waits for `condition` to hold. */
  async open(url: string, condition: string): Promise<void> {
    await this.send('Page.navigate', { url });
    // The page before may hold the condition, too.
    await this.until(`location.href.split('#')[0] === ${JSON.stringify(url.split('#')[0])} && (${condition})`);
  }

  /** Waits for a condition of the page to hold. */
  async until(condition: string): Promise<void> {
    const end = Date.now() + 100_000;
    while ((await this.evaluate(condition).catch(() => false)) !== true) {
      if (Date.now() > end) throw new Error(`never ${condition}: ${this.problems.join('\n')}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /** The value of an expression in the page. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { value?: unknown }).value;
  }

  /** Presses one key. */
  async press(key: string): Promise<void> {
    const codes: Record<string, number> = { Tab: 9, Enter: 13, ArrowRight: 39 };
    const text = key === 'Enter' ? { text: '\r' } : key.length === 1 ? { text: key } : {};
    const event = { key, windowsVirtualKeyCode: codes[key] ?? key.charCodeAt(0), ...text };
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }

  /** A PNG of the page. */
  async screenshot(): Promise<Buffer> {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: false });
    return Buffer.from(String(data), 'base64');
  }

  /** Ends the browser. Its helper processes write to the profile until they are gone too, so it is asked before it is killed. */
  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('close', resolve));
    const deadline = setTimeout(() => this.process.kill('SIGKILL'), 5000);
    this.session = undefined;
    this.send('Browser.close').catch(() => {});
    await ended;
    clearTimeout(deadline);
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}
