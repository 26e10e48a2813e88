import { reply } from '../../../http/message/reply.ts';
import { refuse } from '../../errors/errors.ts';
import type { Endpoint } from '../../model/endpoint.ts';
import type { Phase } from '../../model/health.ts';
import { URL_LENGTH_MAX } from '../../model/query.ts';
import { allowedMethods, optionsHeaders, SERVER_OPTIONS } from '../../response/headers.ts';
import type { Router } from '../../routing/router.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Response, Step } from '../request/step.ts';

/**
 * Finds the endpoint. A URL with a cached response was routed before. A CORS preflight always succeeds: the page then sends
 * its request, and can read what is wrong with it.
 */
export function route(context: RequestContext, router: Router<Endpoint>): Response | undefined {
  if (context.knownUrl) {
    context.endpoint = context.knownUrl.endpoint;
    context.dialect = context.knownUrl.dialect;
    context.pathFormat = context.knownUrl.pathFormat;
    return undefined;
  }
  const { path } = context.target;
  const { length } = context.request.url;
  if (path === '*') return reply(null, SERVER_OPTIONS, 204);
  const found = router.find(path);
  context.dialect = found?.dialect ?? router.dialectOf(path);
  if (found) {
    context.endpoint = found.route;
    context.pathId = found.id;
    context.pathFormat = found.format;
  }
  if (found && length <= URL_LENGTH_MAX) return undefined;
  if (context.request.method === 'OPTIONS') return preflight(found?.route);
  if (length > URL_LENGTH_MAX) throw refuse('uri_too_long', { length, max: URL_LENGTH_MAX });
  throw refuse('not_found', { path: path.slice(0, 100), hint: router.hint(path) });
}

export function checkMethod({ request }: RequestContext, endpoint: Endpoint): Response | undefined {
  const { method } = request;
  if (method === 'OPTIONS') return preflight(endpoint);
  if (allows(endpoint, method)) return undefined;
  throw refuse('method_not_allowed', { method, allowed: allowedMethods(endpoint).join(', ') });
}

/** Most endpoints are read-only. HEAD is answered as GET. */
function allows(endpoint: Endpoint, method: string): boolean {
  if (endpoint.kind === 'mcp') return method === 'POST';
  const own = method === 'HEAD' ? 'GET' : method;
  return 'actions' in endpoint ? Object.hasOwn(endpoint.actions, own) : own === 'GET';
}

function preflight(endpoint: Endpoint | undefined): Response {
  return reply(null, optionsHeaders(endpoint), 204);
}

export function requireStarted({ phase }: { phase(): Phase }): Step {
  return () => {
    if (phase() === 'starting') throw refuse('unavailable', { why: 'it is starting' }, 1);
    return undefined;
  };
}
