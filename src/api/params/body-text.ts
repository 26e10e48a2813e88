import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import { refuse } from '../errors/errors.ts';

/** Reads a body that must be UTF-8: a lenient decoder would turn different invalid ids into the same text. */
export async function readText(request: IncomingRequest): Promise<string> {
  const bytes = await request.bytes();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refuse('invalid_body', { problems: ['it is not valid UTF-8; encode it as UTF-8'] });
  }
}
