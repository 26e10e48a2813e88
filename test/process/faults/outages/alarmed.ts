import type { WebhookReceiver } from '../../../support/http/webhook-receiver.ts';
import { eventually, type Program } from '../../../support/program.ts';
import type { Environment } from '../environment.ts';

/** Longer than any promised time, shorter than the test's timeout: the row records what took too long. */
const WAIT_MS_MAX = 60_000;

export interface Health {
  status: number;
  alarms: string[];
}

async function healthOf(program: Program): Promise<Health> {
  const response = await program.get('/health', '');
  const { alarms } = (await response.json()) as { alarms: string[] };
  return { status: response.status, alarms };
}

/** Waits until /health has this status and these alarms. Returns how long that took, in ms. */
export async function healthBecomes(program: Program, status: number, alarms: string[]): Promise<number> {
  let last: Health | undefined;
  const isSo = async () => {
    last = await healthOf(program);
    return Bun.deepEquals(last, { status, alarms });
  };
  try {
    return await eventually(isSo, WAIT_MS_MAX);
  } catch (cause) {
    throw new Error(`/health did not become ${status} with ${alarms}; it is ${JSON.stringify(last)}`, {
      cause,
    });
  }
}

/** Waits until an alarm is posted. An alarm that ends before it was posted is never posted, nor is its end. */
export async function alarmIsPosted(receiver: WebhookReceiver, name: string): Promise<void> {
  await eventually(async () => receiver.types().includes(name), WAIT_MS_MAX);
}

/** One alarm and its end: in the log since `from`, and posted. Returns how many lines were logged. */
export async function holdsOneAlarm(
  environment: Environment,
  {
    program,
    receiver,
    name,
    from,
  }: { program: Program; receiver: WebhookReceiver; name: string; from: number },
): Promise<number> {
  await eventually(async () => receiver.types().includes('alarm.over'), WAIT_MS_MAX);
  await eventually(async () => program.stderr.slice(from).includes('"event":"alarm is over"'), WAIT_MS_MAX);
  const lines = program.stderr.slice(from).trim().split('\n');
  const alarms = lines.filter((line) => line.includes('"event":"alarm"'));
  environment.holds(
    alarms.length === 1 && alarms[0]!.includes(`"name":"${name}"`),
    `alarms in the log: ${alarms.join(' ')}`,
  );
  const raised = new Set(receiver.posts.filter(({ type }) => type === name).map(({ id }) => id));
  environment.holds(raised.size === 1, `posted: ${receiver.types().join(', ')}`);
  environment.holds(lines.length < 30, `${lines.length} lines were logged`);
  const live = await program.get('/health/live', '');
  environment.holds(live.status === 200, `/health/live is ${live.status}`);
  return lines.length;
}
