import type { Spend } from '../../gate/meter/spend.ts';
import type { ApiKey } from '../../ledger/accounts/keys.ts';
import type { CachedAnswer } from '../cache/cached-answer.ts';
import type { Addressee } from '../response/responses.ts';
import type { Endpoint } from './endpoint.ts';
import type { Target } from './query.ts';

/** One request on its way, with what is known of it so far. */
export interface RequestContext extends Addressee {
  target: Target;
  endpoint: Endpoint | undefined;
  /** What stands in the path's open part. */
  id: string;
  peer(): string;
  /** The key that it came with, and that key's text. */
  key: { text: string; known: ApiKey } | undefined;
  /** Its answer, where that is still good from the last time. */
  ready: CachedAnswer | undefined;
  /** The unit that is being taken for it. */
  spending: Spend | Promise<Spend> | undefined;
}
