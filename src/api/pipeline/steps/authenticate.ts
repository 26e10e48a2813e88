import type { Admission, Gate } from '../../../gate/gate.ts';
import { keyInHeader, misplacedKey, namesOfMisplacedKeys, type SentKey } from '../../access/api-key.ts';
import type { ClientAddress } from '../../access/client-address.ts';
import { refuse } from '../../errors/errors.ts';
import { admissionRefusal } from '../../errors/from-gate.ts';
import { maybeAsync } from '../../model/maybe-async.ts';
import { single } from '../../params/parameters.ts';
import type { RemainingQuota } from '../../response/remaining-quota.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Step } from '../request/step.ts';

export interface AuthenticateOptions {
  gate: Gate;
  clientAddress: ClientAddress;
}

/** Finds out who sent the request, and counts it against the burst limit. A key in the header wins over one in the URL. */
export function authenticate({ gate, clientAddress }: AuthenticateOptions): Step {
  return (context) => {
    const key = keyInHeader(context.request.headers) ?? keyInUrl(context) ?? keyElsewhere(context);
    const admission = gate.admit(
      { key: key.text, inUrl: key.inUrl, address: () => clientAddress.ofRequest(context) },
      context.now,
    );
    return maybeAsync(admission, (found) => settle(context, key, found));
  };

  function settle(context: RequestContext, key: SentKey, admission: Admission): undefined {
    if ('customer' in admission) context.customer = admission.customer;
    if (!admission.ok) throw admissionRefusal(admission);
    context.sentKey = key;
    context.knownKey = admission;
  }
}

/** Reads what is left of the quota, if this process does not know it: responses that are not charged have it in a header. */
export function loadQuota({ remainingQuota }: { remainingQuota: RemainingQuota }): Step {
  return ({ customer, now }) => remainingQuota.load(customer!, now);
}

function keyInUrl(context: RequestContext): SentKey | undefined {
  const text = context.url.key ?? single(context.query, 'apiKey');
  return text ? { text, inUrl: true } : undefined;
}

/** A key in the place where another service expects it. */
function keyElsewhere({ request, query }: RequestContext): SentKey {
  const key = misplacedKey(request.headers, query);
  if (key) return key;
  const received = namesOfMisplacedKeys(request.headers, query);
  throw refuse('missing_key', { hasCursor: query.has('cursor'), received });
}
