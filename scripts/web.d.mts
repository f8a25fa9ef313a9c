// Types of scripts/web.mjs for the tests.
import type { Server } from 'node:http';

export function buildWeb(): Promise<string>;
export function serveWeb(port?: number, options?: { isolated?: boolean }): Promise<{ server: Server; url: string }>;
