// What goes to a provider and what comes back: nothing leaves the machine for a host that was not named, answers that are in the ledger are
// not asked for again, and what was said can be kept in a recording. Keys travel in headers, and headers are kept nowhere.
import { WavesmithError } from '../../base/index.ts';
import { sha256 } from '../hash.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Exchange } from './recording.ts';

export interface WireOptions {
  /** Hosts that sources may be sent to. This machine needs no permission: what is sent there does not leave it. */
  readonly allowed: readonly string[];
  readonly ledger?: Ledger | undefined;
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Refuses a host that was not named. */
export function requireUpload(url: string, allowed: readonly string[]): void {
  const { hostname, protocol } = new URL(url);
  if (LOOPBACK.test(hostname)) return;
  if (protocol !== 'https:') {
    throw new WavesmithError('model/insecure', `'${url}' is not encrypted and not on this machine.`, {
      hint: 'Use https, or a server on 127.0.0.1.',
    });
  }
  if (allowed.includes(hostname)) return;
  throw new WavesmithError('model/upload-not-allowed', `Source code would be sent to ${hostname}.`, {
    hint: `Allow it with --allow-upload ${hostname}.`,
  });
}

/** A fetch for one provider. */
export function wireFetch({ allowed, ledger, onExchange }: WireOptions): typeof fetch {
  return async (input, init) => {
    const url = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url;
    requireUpload(url, allowed);
    const body = typeof init?.body === 'string' ? init.body : '';
    const key = sha256(`message\n${new URL(url).pathname}\n${body}`);
    const known = ledger?.message(key);
    if (known !== undefined) {
      onExchange?.({ status: 200, request: jsonOr(body), response: jsonOr(known) });
      return Response.json(jsonOr(known));
    }
    // A redirect would send the source on to another host.
    const response = await fetch(url, { ...init, redirect: 'error' });
    const text = await response.text();
    onExchange?.({ status: response.status, request: jsonOr(body), response: jsonOr(text) });
    if (response.ok && isJson(text)) ledger?.addMessage(key, text);
    return new Response(text, { status: response.status, headers: response.headers });
  };
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const isJson = (text: string): boolean => typeof jsonOr(text) === 'object';
