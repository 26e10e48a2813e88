import type { Admission, Gate } from '../../../gate/gate.ts';
import type { ClientAddress } from '../../access/client-address.ts';
import { refuse } from '../../errors/errors.ts';
import { admissionRefusal } from '../../errors/from-gate.ts';
import type { MaybeAsync } from '../../model/maybe-async.ts';
import { single } from '../../params/parameters.ts';
import type { RateLimitHeader } from '../../response/rate-limit-header.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Step } from '../request/step.ts';

export interface AuthenticateOptions {
  gate: Gate;
  rateLimits: RateLimitHeader;
  clientAddress: ClientAddress;
}

/** Finds out who sent the request, and counts it against the burst limit. A key in the header wins over one in the URL. */
export function authenticate({ gate, rateLimits, clientAddress }: AuthenticateOptions): Step {
  return (context) => {
    const inHeader = context.request.headers.get('x-api-key')?.trim();
    const key = inHeader || keyInUrl(context);
    if (!key) throw refuse('missing_key', { hasCursor: context.params.has('cursor') });
    const admission = gate.admit(
      { key, inUrl: !inHeader, address: () => clientAddress.ofRequest(context) },
      context.now,
    );
    if (admission instanceof Promise) return admission.then((found) => settle(context, key, found));
    return settle(context, key, admission);
  };

  function settle(context: RequestContext, key: string, admission: Admission): MaybeAsync<undefined> {
    if ('customer' in admission) {
      context.customer = admission.customer;
      const loading = rateLimits.load(admission.customer, context.now);
      if (loading) return loading.then(() => requireAdmitted(context, key, admission));
    }
    return requireAdmitted(context, key, admission);
  }
}

function requireAdmitted(context: RequestContext, key: string, admission: Admission): undefined {
  if (!admission.ok) throw admissionRefusal(admission);
  context.key = { text: key, known: admission.key };
}

function keyInUrl(context: RequestContext): string | undefined {
  return context.knownUrl?.key ?? single(context.params, 'apiKey')?.trim();
}
