import type { UsageAnswer, UsageDailyAnswer } from '../api/answers.ts';
import { projection } from '../data/projection.ts';
import { count, dayOfSeconds, UNLIMITED } from '../show/format.ts';

/** Usage of the quota, and the projection for the month. */
export function Quota({ usage, daily, now }: { usage: UsageAnswer; daily: UsageDailyAnswer; now: number }) {
  const share = usage.quota === 0 ? 100 : Math.min(100, (usage.used / usage.quota) * 100);
  const level = share >= 100 ? 'full' : share >= 75 ? 'high' : '';
  const expected = projection(usage, daily.days, now);
  const isUnlimited = count(usage.quota) === UNLIMITED;
  const isOver = expected > usage.quota;
  return (
    <section class="card" aria-labelledby="quota-title">
      <h2 id="quota-title">This month</h2>
      <p class="stat">
        {count(usage.used)} <small>{isUnlimited ? 'used' : `of ${count(usage.quota)} used`}</small>
      </p>
      {!isUnlimited && (
        <progress
          class={`meter ${level}`}
          max={100}
          value={share}
          aria-label="Share of the quota that is used"
        />
      )}
      <p class="hint">
        {isUnlimited ? 'There is no limit.' : `${count(usage.remaining)} remaining.`} The count resets on{' '}
        {dayOfSeconds(usage.resetAt)}, 00:00 UTC.
      </p>
      {expected > 0 && (
        <p class={isOver ? 'projection over' : 'projection'}>
          At the pace of the last week, usage will reach <strong>{count(expected)}</strong> by the end of the
          month
          {isOver ? ': more than the quota.' : '.'}
        </p>
      )}
      {daily.events.map(({ percent, at }) => (
        <p class="hint" key={`${percent} ${at}`}>
          {percent} % was reached on {dayOfSeconds(at)}.
        </p>
      ))}
    </section>
  );
}
