import { type Api, apiOn, type Reply, readReply } from './api.ts';
import type { EngineName } from './ledger.ts';
import { OPERATOR_HEADERS, OPERATOR_SETTINGS } from './operator.ts';
import { NOON } from './service.ts';

const settings = { ...OPERATOR_SETTINGS, OPENPIT_FAILED_KEYS_PER_MINUTE: '5' };

/** A time of the last minute before noon. */
export const at = (seconds: number) => new Date(NOON - 60_000 + seconds * 1_000).toISOString();

/** A service to which the operator's system pushes prices. The reply comes after the service has read them back. */
export function pushApi(engine: EngineName): { api: Api; send: SendPush } {
  const api = apiOn(engine, { settings });
  const send: SendPush = async (path, body, more = {}) => {
    const headers = { ...OPERATOR_HEADERS, 'content-type': 'application/json', ...more };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const reply = await readReply(
      await fetch(api.service.url + path, { method: 'POST', headers, body: text }),
    );
    await api.service.core.follow();
    return reply;
  };
  return { api, send };
}

type SendPush = (path: string, body: unknown, more?: Record<string, string>) => Promise<Reply>;
