import type { Admission } from '../../gate/gate.ts';
import type { QuotaRefusal } from '../../gate/meter/spend.ts';
import { VISITOR_UNITS_MAX, VISITOR_UNITS_PER_MINUTE } from '../../gate/visitors.ts';
import type { Fault } from '../../http/message/fault.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import { type Refusal, refuse } from './errors.ts';

/** Maps a rejected admission to an API error. */
export function admissionRefusal(admission: Admission & { ok: false }): Refusal {
  switch (admission.code) {
    case 'failed_keys':
      return wrongSecrets('keys', admission.retryAfterMs);
    case 'key_not_allowed':
      return refuse('key_not_allowed', { why: admission.why });
    case 'rate_limited': {
      const { name, burstPerSecond } = admission.customer.plan;
      return refuse('rate_limited', { limit: `the plan "${name}" allows ${burstPerSecond} a second` }, 1);
    }
    default:
      return refuse(admission.code, {});
  }
}

/** Too many wrong keys or tokens came from an address. */
export function wrongSecrets(what: 'keys' | 'admin tokens', retryAfterMs: number): Refusal {
  const seconds = Math.ceil(retryAfterMs / 1000);
  return refuse('rate_limited', { limit: `too many wrong ${what} came from your address` }, seconds);
}

/** The address of a visitor has too few units left for a response. If no visitor ever has as many, waiting does not help. */
export function visitorRefusal(retryAfterSeconds: number, units: number): Refusal {
  const limit = `visitors to the page may use ${VISITOR_UNITS_MAX} units at once`;
  if (units > VISITOR_UNITS_MAX) {
    const advice = 'Ask for less, or use a key of your own.';
    return refuse('rate_limited', { limit: `${limit}, and this response costs ${units}`, advice });
  }
  const rate = `${limit} and ${VISITOR_UNITS_PER_MINUTE} a minute after that; a key of your own has its own limits`;
  return refuse('rate_limited', { limit: rate }, retryAfterSeconds);
}

/** Maps a fault in reading a body to an API error. */
export function bodyRefusal({ status, reason }: Fault): Refusal {
  return status === 413
    ? refuse('body_too_large', { why: reason })
    : refuse('invalid_body', { problems: [reason] });
}

/**
 * Maps a failed charge to an API error. An exhausted quota has no `Retry-After`: clients that obey it would sleep until the end
 * of the month.
 */
export function quotaRefusal(
  spend: QuotaRefusal,
  plan: Plan,
  { resetAt }: { resetAt: number },
  units: number,
): Refusal {
  if (spend.reason === 'unavailable') {
    return refuse('unavailable', { why: 'the quota cannot be checked' }, spend.retryAfterSeconds);
  }
  const details = { quota: plan.quota, plan: plan.name, resetAt: new Date(resetAt).toISOString(), units };
  return refuse('quota_exhausted', details);
}
