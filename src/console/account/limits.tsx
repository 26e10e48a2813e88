import type { PlanRecord } from '../api/answers.ts';
import { count, duration, plural, UNLIMITED } from '../show/format.ts';

/** The limits of a plan in plain words. */
export function Limits({ plan }: { plan: PlanRecord }) {
  return (
    <section class="card" aria-labelledby="plan-title">
      <h2 id="plan-title">Plan “{plan.name}”</h2>
      <ul class="limits">
        <li>
          <strong>{count(plan.quota) === UNLIMITED ? 'Unlimited' : count(plan.quota)}</strong> units per
          month. Errors and unchanged responses are free.
        </li>
        <li>
          {plan.delaySeconds === 0 ? (
            <>
              Prices <strong>as they arrive</strong>, without a delay.
            </>
          ) : (
            <>
              Prices are <strong>{duration(plan.delaySeconds)} old</strong>, or older.
            </>
          )}
        </li>
        <li>
          Up to <strong>{plural(plan.maxSymbols, 'symbol')}</strong> in one request.
        </li>
        <li>
          Up to <strong>{plural(plan.maxSpanDays, 'day')}</strong> in one time series
          {plan.history ? (
            <>, and decades at once with long history.</>
          ) : (
            <>. Long history is not included.</>
          )}
        </li>
        <li>
          Up to <strong>{plural(plan.burstPerSecond, 'request')}</strong> in one second.
        </li>
      </ul>
    </section>
  );
}
