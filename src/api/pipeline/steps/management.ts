import type { z } from 'zod';
import type { Customer, KnownKey } from '../../../gate/directory/customer.ts';
import type { Meter } from '../../../gate/meter/meter.ts';
import { PUBLIC_ACCOUNT } from '../../../gate/onboarding.ts';
import type { IncomingRequest } from '../../../http/message/incoming-request.ts';
import type { Actor } from '../../../ledger/audit/entry.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { nearestCodes } from '../../../market/search/similar-codes.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { isPlainText } from '../../../runtime/plain-text.ts';
import type { AdminGuard } from '../../access/admin-guard.ts';
import { refuse } from '../../errors/errors.ts';
import type { AdminEndpoint, ManagementRequest, Method, OwnerEndpoint } from '../../model/endpoint.ts';
import type { QueryParams } from '../../model/query.ts';
import { documentedParameters } from '../../openapi/documented.ts';
import { bodyProblems } from '../../params/body-problems.ts';
import { readText } from '../../params/body-text.ts';
import { echo } from '../../params/parameters.ts';
import type { RequestContext } from '../request/request-context.ts';

export interface ManagementOptions {
  ledger: Ledger;
  meter: Meter;
  clock: Clock;
}

/** Far above the size of any body that is not a list. */
const BODY_CHARACTERS_MAX = 16_384;

/** Runs changes by customers and the operator to accounts, plans and keys. */
export class Management {
  readonly #options: ManagementOptions;
  readonly #guard: AdminGuard;

  constructor(options: ManagementOptions, guard: AdminGuard) {
    this.#options = options;
    this.#guard = guard;
  }

  /** A change needs the key in a header: another site can make a browser send a URL, but not a header. */
  owner(
    endpoint: OwnerEndpoint,
    context: RequestContext,
    customer: Customer,
    key: KnownKey,
    address: () => string,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { request } = context;
    const method = methodOf(request);
    if (method !== 'GET' && context.sentKey!.inUrl) throw refuse('key_not_allowed', { why: 'management' });
    if (method !== 'GET' && customer.id === PUBLIC_ACCOUNT)
      throw refuse('key_not_allowed', { why: 'shared' });
    const actor = { name: key.id, via: 'key', address: address() } as const;
    return endpoint.actions[method]!({ ...this.#call(context, actor), customer, key });
  }

  async admin(
    endpoint: AdminEndpoint,
    context: RequestContext,
    address: () => string,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { request, query } = context;
    this.#guard.require(request, address);
    const method = methodOf(request);
    if (method !== 'GET') requireKnown(query, method, endpoint.path);
    return endpoint.actions[method]!(this.#call(context, operatorOf(request, address())));
  }

  #call({ request, pathId, query, dialect }: RequestContext, actor: Actor): ManagementRequest {
    const { meter, clock } = this.#options;
    const ledger = this.#options.ledger.as(actor);
    const body: ManagementRequest['body'] = (schema, charactersMax) =>
      readBody(request, schema, charactersMax);
    return { id: pathId, query, ledger, meter, now: clock.now(), dialect, request, body };
  }
}

/** Refuses unknown parameters of a change: with `dry-run=true`, it would do what the operator meant to try. */
function requireKnown(query: QueryParams, method: Method, path: string): void {
  for (const { name } of query) {
    const known = documentedParameters(method, path);
    if (known.includes(name)) continue;
    const plain = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '');
    const meant = known.find((one) => plain(one) === plain(name)) ?? nearestCodes(name, known, 1)[0];
    throw refuse('invalid_parameter', { unknown: echo(name), known, meant });
  }
}

const OPERATOR_NAME = 'openpit-operator';
const OPERATOR_NAME_CHARACTERS_MAX = 64;

/** The actor in the audit log. All operators share one token, so each may add a name of their own in a header. */
function operatorOf({ headers }: IncomingRequest, address: string): Actor {
  const given = headers.get(OPERATOR_NAME)?.trim().slice(0, OPERATOR_NAME_CHARACTERS_MAX) ?? '';
  const name = given !== '' && isPlainText(given) ? given : 'operator';
  const isPage = headers.get('sec-fetch-site') === 'same-origin';
  return { name, via: isPage ? 'page' : 'api', address };
}

/** HEAD is answered as GET. */
function methodOf({ method }: IncomingRequest): Method {
  return method === 'HEAD' ? 'GET' : (method as Method);
}

async function readBody<T>(
  request: IncomingRequest,
  schema: z.ZodType<T>,
  charactersMax = BODY_CHARACTERS_MAX,
): Promise<T> {
  const text = await readText(request);
  if (text.length > charactersMax) throw refuse('invalid_body', { problems: ['it is too long'] });
  if (text !== '' && !/^application\/json\b/i.test(request.headers.get('content-type') ?? ''))
    throw refuse('invalid_body', {
      problems: ['it is not sent as JSON; send it with "Content-Type: application/json"'],
    });
  const body = text === '' ? {} : parse(text);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw refuse('invalid_body', { problems: bodyProblems(parsed.error, body) });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuse('invalid_body', { problems: ['it is not valid JSON'] });
  }
}
