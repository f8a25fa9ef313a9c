// Builds the page of web/ into dist/web and serves it on this machine. Shared WebAssembly memory needs a cross-origin isolated page,
// so every answer carries COOP and COEP; nothing is loaded from elsewhere, and the content security policy says so.
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const from = join(root, 'web');
const to = join(root, 'dist', 'web');

/** Bundles the page; resolves to the folder it is in. */
export async function buildWeb() {
  const { build } = await import('esbuild');
  mkdirSync(to, { recursive: true });
  await build({
    entryPoints: { main: join(from, 'main.ts'), worker: join(from, 'worker.ts') },
    outdir: to,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    sourcemap: true,
    logLevel: 'warning',
    loader: { '.s': 'text' },
    absWorkingDir: root,
  });
  for (const name of ['index.html', 'style.css']) copyFileSync(join(from, name), join(to, name));
  return to;
}

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.map': 'application/json',
};

/** Serves the built page on 127.0.0.1; `isolated: false` leaves out the headers that allow shared memory. Resolves to server and URL. */
export function serveWeb(port = 0, { isolated = true } = {}) {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const name = path === '/' ? 'index.html' : path.slice(1);
    const type = TYPES[extname(name)];
    let body;
    try {
      if (type === undefined || !/^[\w.-]+$/.test(name)) throw new Error('not a file of the page');
      body = readFileSync(join(to, name));
    } catch {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, {
      'Content-Type': type,
      'Cache-Control': 'no-store',
      'Content-Security-Policy':
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; connect-src 'self'; img-src data:",
      'X-Content-Type-Options': 'nosniff',
      ...(isolated
        ? { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }
        : {}),
    });
    response.end(body);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve({ server, url: `http://127.0.0.1:${server.address().port}/` }));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildWeb();
  const wanted = Number(process.argv[2] ?? 8080);
  if (!Number.isInteger(wanted) || wanted < 0 || wanted > 65535) {
    console.error(`'${process.argv[2]}' is not a port number.`);
    process.exit(2);
  }
  try {
    const { url } = await serveWeb(wanted);
    console.log(`The page is at ${url} (Ctrl-C ends)`);
  } catch (error) {
    console.error(`Port ${wanted} cannot be used: ${error.message}. Another one: npm run web -- 8081`);
    process.exit(1);
  }
}
