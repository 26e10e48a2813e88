import { type AskRates, answerOf, pathWith, type QueryValues } from '../../client/ask.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import type { RawReply, Reply } from '../../http/message/reply.ts';
import { webResponse } from '../../http/message/web-response.ts';
import type { Log } from '../../runtime/log/log.ts';
import { KEY_HEADER } from '../access/api-key.ts';
import type { McpEndpoint } from '../model/endpoint.ts';
import type { MaybeAsync } from '../model/maybe-async.ts';
import { readText } from '../params/body-text.ts';
import type { RequestContext } from '../pipeline/request/request-context.ts';
import type { Step } from '../pipeline/request/step.ts';
import { COMMON_HEADERS } from '../response/headers.ts';
import { type MountPoint, mainMount } from '../routing/mount-point.ts';

export interface ServeMcpOptions {
  version: string;
  /** Handles a request as if it had arrived over the network. */
  handle(request: IncomingRequest, peer: () => string): MaybeAsync<RawReply | Reply>;
  mounts: readonly MountPoint[];
  log: Log;
}

/** Headers that are copied from the agent's request to the requests made for it: they identify its origin. */
const FORWARDED_HEADERS = new Set([
  'x-forwarded-for',
  'forwarded',
  'x-real-ip',
  'traceparent',
  'x-request-id',
]);

/** Serves agents. A tool call becomes requests with the agent's own key, which go through the pipeline like any others. */
export function serveMcp({ version, handle, mounts, log }: ServeMcpOptions): Step<McpEndpoint> {
  return async (context) => {
    // Loaded on demand, because few servers are used by agents.
    const { respondToAgent } = await import('../../mcp/http.ts');
    const { request } = context;
    const response = await respondToAgent({
      body: await readText(request),
      headers: agentHeaders(request),
      ask: askWithin(context, handle, mainMount(mounts)),
      version,
      now: () => context.now,
      onError: (error) => log.warn('an agent request failed', { message: error.message }),
    });
    response.headers.delete('connection'); // it is the server that decides whether to close it
    const headers = {
      ...COMMON_HEADERS,
      'Cache-Control': 'no-store',
      ...Object.fromEntries(response.headers),
    };
    return { status: response.status, headers, body: response.body };
  };
}

/** The headers that the protocol defines. */
function agentHeaders({ headers }: IncomingRequest): Headers {
  const names = [
    'content-type',
    'accept',
    'mcp-protocol-version',
    'mcp-session-id',
    'mcp-method',
    'mcp-name',
  ];
  const given = names.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as [string, string]];
  });
  return new Headers(given);
}

function askWithin(context: RequestContext, handle: ServeMcpOptions['handle'], mount: string): AskRates {
  const { request, peer } = context;
  const key = context.sentKey!.text;
  return async <Answer>(path: string, params: QueryValues = {}) => {
    const get = (name: string) => {
      if (name === KEY_HEADER) return key;
      return FORWARDED_HEADERS.has(name) ? request.headers.get(name) : null;
    };
    const inner: IncomingRequest = {
      method: 'GET',
      url: mount + pathWith(path, params),
      headers: { get, has: (name) => get(name) !== null },
      bytes: async () => new Uint8Array(),
    };
    for (let waits = 0; ; waits++) {
      const response = webResponse(await handle(inner, peer), 'GET', () => {});
      const seconds = Number(response.headers.get('retry-after') ?? Number.POSITIVE_INFINITY);
      if (response.status !== 429 || seconds > WAIT_SECONDS_MAX || waits === WAITS_MAX)
        return answerOf<Answer>(response.status, await response.text());
      await Bun.sleep(seconds * 1_000);
    }
  };
}

/** A call that fails at the burst limit would have paid for its earlier requests, and would pay again if it is repeated. */
const WAITS_MAX = 3;
const WAIT_SECONDS_MAX = 1;
