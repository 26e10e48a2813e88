import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import { type Reply, reply } from '../../http/message/reply.ts';
import { refuse } from '../errors/errors.ts';
import type { OpenEndpoint } from '../model/endpoint.ts';
import { openApiDocument } from '../openapi/document.ts';
import { JSON_TYPE } from '../response/headers.ts';
import { ASSETS_PATH, type Bundle, openBundle } from './bundle.ts';
import { type SiteFile, sendFile, siteFile } from './file.ts';
import { keyForPage, type PageKeys } from './page-key.ts';
import { PAGE_POLICY, REFERENCE_POLICY } from './policy.ts';
import { openReference } from './reference.ts';

export interface SiteOptions {
  keys: PageKeys;
  /** Whether no real price has ever been recorded. */
  allSimulated(): boolean;
  /** Whether prices are simulated. */
  simulated: boolean;
  /** Whether there is an admin token, and so an operator's side. */
  admin: boolean;
  /** What there is to ask, so that the page shows what the service has. */
  paths: readonly string[];
  version: string;
}

/** The web page, the API reference, and what the two read. None of it needs a key. */
export function siteEndpoints(options: SiteOptions): OpenEndpoint[] {
  const { keys, allSimulated, simulated, admin, paths, version } = options;
  const bundle = once(openBundle);
  const reference = once(openReference);
  const document = once(async () => siteFile(JSON.stringify(openApiDocument(version)), 'json'));
  const one = (path: string, answer: OpenEndpoint['answer']): OpenEndpoint => ({
    kind: 'open',
    name: 'page',
    path,
    answer,
  });
  return [
    one('/', async ({ request }) => sendFile((await bundle()).document, request, PAGE_POLICY, false)),
    one(`${ASSETS_PATH}/:id`, async ({ request, id }) => asset(await bundle(), id, request)),
    one('/console/config', ({ request, peer }) => {
      const given = keyForPage(keys, allSimulated(), request, peer);
      const config = { version, simulated, admin, paths, ...(given && { given }) };
      const headers = { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store', ...PAGE_POLICY };
      return reply(JSON.stringify(config), headers);
    }),
    one('/openapi.json', async ({ request }) =>
      sendFile(await document(), request, { 'Access-Control-Allow-Origin': '*' }, false),
    ),
    one('/docs/reference', async ({ request }) =>
      sendFile((await reference()).get('index.html')!, request, REFERENCE_POLICY, false),
    ),
    one('/docs/assets/:id', async ({ request, id }) =>
      send((await reference()).get(id), id, request, '/docs/assets'),
    ),
  ];
}

function asset({ assets }: Bundle, name: string, request: IncomingRequest): Reply {
  const file = assets.get(name);
  if (!file) throw gone(`${ASSETS_PATH}/${name}`);
  return sendFile(file, request, PAGE_POLICY, true);
}

function send(file: SiteFile | undefined, name: string, request: IncomingRequest, folder: string): Reply {
  if (!file) throw gone(`${folder}/${name}`);
  return sendFile(file, request, REFERENCE_POLICY, false);
}

/** A page that is older than the program asks for files that are no longer there. */
function gone(path: string) {
  return refuse('not_found', { path: path.slice(0, 100), hint: 'Load the page again.' });
}

/** Work that is done when it is first needed; one that failed is tried again. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work().catch((error) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}
