import { afterAll, beforeAll, expect } from 'bun:test';
import type { EngineName } from './ledger.ts';
import { openTestService, type TestService } from './service.ts';

export type Json = Record<string, unknown>;

/** A response, read completely. */
export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  body: Json;
}

export interface Api {
  service: TestService;
  /** A key of the plan `unlimited`. */
  key: string;
  /** Sends a request with that key, another one, or none (`''`). */
  ask(
    path: string,
    options?: {
      key?: string;
      method?: string;
      headers?: Record<string, string>;
      body?: string | Uint8Array<ArrayBuffer>;
    },
  ): Promise<Reply>;
}

/** One service for all tests of a `describe`. `prepare` runs before the first test. */
export function apiOn(
  engine: EngineName,
  options: Parameters<typeof openTestService>[1] = {},
  prepare: (api: Api) => Promise<void> = async () => {},
): Api {
  let opened: TestService | undefined;
  const api: Api = {
    get service() {
      if (!opened) throw new Error('the service is opened before the first test');
      return opened;
    },
    key: '',
    async ask(path, { key = api.key, method = 'GET', headers = {}, body } = {}) {
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const init = { method, headers: { ...type, ...headers }, ...(body !== undefined && { body }) };
      const response = await api.service.get(path, key === '' ? undefined : key, init);
      return readReply(response);
    },
  };
  beforeAll(async () => {
    opened = await openTestService(engine, options);
    api.key = await opened.key();
    await prepare(api);
  });
  afterAll(() => opened?.close());
  return api;
}

export async function readReply(response: Response): Promise<Reply> {
  const text = await response.text();
  const isLines = response.headers.get('content-type')?.includes('ndjson');
  const body: Json = text.startsWith('{') && !isLines ? JSON.parse(text) : {};
  return { status: response.status, headers: response.headers, text, body };
}

/** Expects an error envelope: exactly these four members, in this order, and those of the error. Returns the message. */
export function expectRefusal(reply: Reply, status: number, code: string, members: Json = {}): string {
  const message = String(reply.body.message);
  const { resetAt } = reply.body;
  const own = code === 'quota_exhausted' ? { resetAt, ...members } : members;
  const envelope = { success: false, message, statusCode: String(status), code, ...own };
  expect(reply.text).toBe(JSON.stringify(envelope));
  expect(reply.status).toBe(status);
  expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(reply.headers.get('cache-control')).toBe('no-store');
  expect(message.length).toBeGreaterThan(20);
  return message;
}
