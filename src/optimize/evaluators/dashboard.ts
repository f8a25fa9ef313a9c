// bull-board on loopback: what waits, what is worked on, what failed and why.
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import { connect, type QueueAddress, queueName, queuePackages } from './redis.ts';

export interface Dashboard {
  readonly url: string;
  close(): Promise<void>;
}

async function packages() {
  try {
    const [{ createBullBoard }, { BullMQAdapter }, { HonoAdapter }, { Hono }, { serve }, { serveStatic }] =
      await Promise.all([
        import('@bull-board/api'),
        import('@bull-board/api/bullMQAdapter'),
        import('@bull-board/hono'),
        import('hono'),
        import('@hono/node-server'),
        import('@hono/node-server/serve-static'),
      ]);
    return { createBullBoard, BullMQAdapter, HonoAdapter, Hono, serve, serveStatic };
  } catch (cause) {
    throw new WavesmithError('queue/not-installed', 'The packages of the dashboard are not installed.', {
      hint: "They are optional: 'npm install @bull-board/hono @bull-board/api @bull-board/ui hono @hono/node-server' beside wavesmith.",
      cause,
    });
  }
}

const HOST = '127.0.0.1';

/** Serves the dashboard of a queue to this machine alone. Port 0 is any. */
export async function serveDashboard(address: QueueAddress, port: number): Promise<Dashboard> {
  const { createBullBoard, BullMQAdapter, HonoAdapter, Hono, serve, serveStatic } = await packages();
  const { bullmq } = await queuePackages();
  const { client, end } = await connect(address);
  const queues = (['sim', 'rocm'] as const).map(
    (target) => new bullmq.Queue(queueName(target), { connection: client }),
  );
  for (const queue of queues) queue.on('error', () => {});
  const adapter = new HonoAdapter(serveStatic);
  const uiBasePath = dirname(createRequire(import.meta.url).resolve('@bull-board/ui/package.json'));
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue)),
    serverAdapter: adapter,
    options: { uiBasePath },
  });
  const app = new Hono();
  // A page of another site that resolves its name to this machine is not answered.
  app.use(async (context, next) => {
    const name = new URL(`http://${context.req.header('host') ?? ''}`).hostname;
    if (name !== HOST && name !== 'localhost') return context.text('Only for this machine.', 403);
    return await next();
  });
  app.route('/', adapter.registerPlugin());
  return await new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: HOST, port }, ({ port: bound }) => {
      resolve({
        url: `http://${HOST}:${bound}/`,
        close: async () => {
          server.close();
          end();
          await Promise.all(queues.map((queue) => queue.close()));
        },
      });
    });
    server.once('error', (cause) => {
      end();
      reject(
        new WavesmithError('queue/no-server', `The dashboard cannot be served at ${HOST}:${port}: ${cause.message}.`, {
          cause,
        }),
      );
    });
  });
}
