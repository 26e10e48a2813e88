import type { Operation } from './operation.ts';

/** The response headers that mean something to a client beyond the message itself. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': header(
    'The id of the request: the `X-Request-Id` that was sent, if it has at most 128 characters `A-Za-z0-9._~:/+=@-`, or else a new one. The access log has it, too.',
  ),
  'WWW-Authenticate': header('How to authenticate.'),
  RateLimit: header(
    'The remaining quota, and the seconds until it resets. With the key of the page’s visitors, the units left to the address.',
    '"month";r=99995;t=950400',
  ),
  'RateLimit-Policy': header(
    'The quota, and the requests per second.',
    '"month";q=100000;w=2592000, "burst";q=10;w=1',
  ),
  'Retry-After': header(
    'The seconds to wait before a retry. A `429 quota_exhausted` has none: the reset may be weeks away.',
    '1',
  ),
  ETag: header(
    'The tag of the response. Sent as `If-None-Match`, it makes a repeated request free while the response is the same.',
  ),
  Link: header('The URL of the next page, without the key.', '</rates/history?…&cursor=…>; rel="next"'),
  'Openpit-Warnings': header(
    'The messages that `warnings` has in JSON, for example about parameters without effect.',
  ),
  'Openpit-Visit': header('Proves for an hour that `/market` is paid for. See the parameter `visit`.'),
  'Accept-Ranges': header('Whether parts can be requested with `Range`: `bytes` for Parquet, or `none`.'),
  'Content-Range': header(
    'The part of the file in the response, or the length of the file.',
    'bytes 0-1023/4096',
  ),
};

type HeaderName = keyof typeof RESPONSE_HEADERS;

/** The headers that a response of an operation may have, as references. */
export function headersOf(operation: Operation, status: number): Record<string, { $ref: string }> {
  const names: HeaderName[] = [
    'X-Request-Id',
    ...(status === 401 ? UNAUTHENTICATED : isCounted(operation) ? QUOTA : []),
    ...(status === 429 || status === 503 ? RETRY : []),
    ...(status < 400 ? answerHeaders(operation) : []),
    ...(status === 206 || status === 416 ? PART : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const UNAUTHENTICATED: readonly HeaderName[] = ['WWW-Authenticate'];
const QUOTA: readonly HeaderName[] = ['RateLimit', 'RateLimit-Policy'];
const RETRY: readonly HeaderName[] = ['Retry-After'];
const PART: readonly HeaderName[] = ['Content-Range'];

/** Whether the response says what is left of a quota. */
function isCounted({ tag }: Operation): boolean {
  return tag === 'Rates' || tag === 'Account';
}

/** Those of a success, and of a 304, which has the headers that the success would have. */
function answerHeaders({ tag, path, answer, parameters = [] }: Operation): HeaderName[] {
  const hasFormats = parameters.includes('format');
  const isShared = path.startsWith('/market');
  return [
    ...(tag === 'Rates' && answer !== 'StreamRate' ? (['ETag'] as const) : []),
    ...(hasFormats || isShared ? (['Openpit-Warnings'] as const) : []),
    ...(hasFormats ? (['Accept-Ranges'] as const) : []),
    ...(parameters.includes('cursor') ? (['Link'] as const) : []),
    ...(path === '/market' ? (['Openpit-Visit'] as const) : []),
  ];
}

function header(description: string, example?: string): object {
  return { description, schema: { type: 'string' }, ...(example && { example }) };
}
