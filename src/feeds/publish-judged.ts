import type { Ledger } from '../ledger/ledger.ts';
import type { NewBar } from '../ledger/prices/bars.ts';
import type { Publication, PublishResult } from '../ledger/prices/publish-bars.ts';
import type { Judgement } from '../ledger/quarantine/judge-bars.ts';

interface JudgedPublication extends Omit<Publication, 'recordedAt'> {
  /** What provided the bars: `import 3`, `push`. */
  origin: string;
  recordedAt: number;
}

/** Stores a judgement: holds the suspicious bars, publishes the others, and decides on held bars that they confirm or replace. */
export async function publishJudged(
  { bars, heldBars }: Ledger,
  { admitted, held, confirmed }: Omit<Judgement<NewBar>, 'refused'>,
  { origin, ...publication }: JudgedPublication,
): Promise<PublishResult> {
  const { source, recordedAt, before } = publication;
  await heldBars.hold(held, { source, origin, received: recordedAt, before });
  await heldBars.confirm(confirmed, recordedAt, before);
  const result = await bars.publish(admitted, publication);
  await heldBars.settle(admitted, source, recordedAt, before);
  return result;
}
