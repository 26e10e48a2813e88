import { useState } from 'preact/hooks';
import type { KeyRecord, UsageDailyAnswer } from '../api/answers.ts';
import { UsageChart } from '../charts/usage-chart.tsx';
import { Choice } from '../show/parts.tsx';

/** Units by day, stacked by endpoint or by key. */
export function UsageCard({ daily, keys }: { daily: UsageDailyAnswer; keys: readonly KeyRecord[] }) {
  const [by, setBy] = useState<'By endpoint' | 'By key'>('By endpoint');
  const isByKey = by === 'By key';
  return (
    <section class="card" aria-labelledby="usage-title">
      <div class="card-head">
        <h2 id="usage-title">Usage by day {isByKey ? 'and key' : 'and endpoint'}</h2>
        <Choice
          label="Group usage"
          options={['By endpoint', 'By key'] as const}
          value={by}
          onChange={setBy}
        />
      </div>
      <UsageChart
        days={isByKey ? daysByKey(daily.byKey, keys) : daily.days}
        first={daily.startDate}
        last={daily.endDate}
      />
      {isByKey && (
        <p class="hint">
          By the key that was charged; up to five minutes old. A stream is charged to the key that opened it.
        </p>
      )}
    </section>
  );
}

/** The chart stacks by a name; here it is that of the key. */
function daysByKey(uses: UsageDailyAnswer['byKey'], keys: readonly KeyRecord[]) {
  const nameOf = (id: string) => {
    const name = keys.find((key) => key.id === id)?.name;
    const isUnique = keys.filter((key) => key.name === name).length === 1;
    return name ? (isUnique ? name : `${name} (${id})`) : id; // a rotated key has the name of the one before
  };
  const groups = Map.groupBy(uses, ({ date, key }) => `${date} ${key}`);
  return [...groups.values()].map((same) => ({
    date: same[0]!.date,
    endpoint: nameOf(same[0]!.key),
    count: same.reduce((sum, { count }) => sum + count, 0),
  }));
}
