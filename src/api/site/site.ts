import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import { type Reply, reply } from '../../http/message/reply.ts';
import { isTrading, MARKETS } from '../../market/session.ts';
import type { Clock } from '../../runtime/clock.ts';
import { refuse } from '../errors/errors.ts';
import type { OpenEndpoint } from '../model/endpoint.ts';
import { openApiDocument } from '../openapi/document.ts';
import type { MountPoint } from '../routing/mount-point.ts';
import { ASSETS_PATH, type Bundle, openBundle } from './bundle.ts';
import { COMMAND_NAME } from './command-name.ts';
import { SiteFile, sendFile, sendUncached } from './file.ts';
import { keyForPage, type PageKeys } from './page-key.ts';
import { PAGE_POLICY } from './policy.ts';

export interface SiteOptions {
  keys: PageKeys;
  /** Whether no real price has ever been recorded. */
  allSimulated(): boolean;
  /** Whether prices are simulated. */
  simulated: boolean;
  /** Whether an admin token is configured, which enables the operator's pages. */
  admin: boolean;
  /** Where the API is served, for the OpenAPI document. */
  mounts: readonly MountPoint[];
  version: string;
  clock: Clock;
}

/** The console, the files it loads, and the OpenAPI document. None of them needs a key. */
export function siteEndpoints(options: SiteOptions): OpenEndpoint[] {
  const { keys, allSimulated, simulated, admin, mounts, version, clock } = options;
  const bundle = once(openBundle);
  const document = once(async () => new SiteFile(JSON.stringify(openApiDocument(version, mounts)), 'json'));
  const endpoint = (path: string, answer: OpenEndpoint['answer']): OpenEndpoint => ({
    kind: 'open',
    name: 'page',
    path,
    answer,
  });
  return [
    endpoint('/', async ({ request }) => sendFile((await bundle()).document, request, PAGE_POLICY, false)),
    endpoint(`${ASSETS_PATH}/:id`, async ({ request, id }) => sendAsset(await bundle(), id, request)),
    endpoint('/console/config', ({ request, peer }) => {
      const given = keyForPage(keys, allSimulated(), request, peer);
      const config = {
        version,
        command: COMMAND_NAME,
        simulated,
        closed: allClosed(clock.now()),
        admin,
        ...(given && { given }),
      };
      return sendUncached(config, request);
    }),
    endpoint('/openapi.json', async ({ request }) =>
      sendFile(await document(), request, { 'Access-Control-Allow-Origin': '*' }, false),
    ),
    endpoint('/docs/reference', () => reply(null, { Location: '/#/docs/reference' }, 302)),
  ];
}

/** Whether no market trades, as on weekends. */
function allClosed(now: number): boolean {
  return !Object.values(MARKETS).some((market) => isTrading(market, now));
}

function sendAsset({ assets }: Bundle, name: string, request: IncomingRequest): Promise<Reply> {
  const file = assets.get(name);
  // A page loaded before an upgrade may request files that no longer exist.
  if (!file)
    throw refuse('not_found', { path: `${ASSETS_PATH}/${name}`.slice(0, 100), hint: 'Reload the page.' });
  return sendFile(file, request, {}, true); // the policy of the document applies to its files
}

/** Runs `work` on first use and caches its result. A failure is not cached. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= work().catch((error) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}
