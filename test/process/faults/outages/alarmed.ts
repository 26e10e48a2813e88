import { eventually, type Program } from '../../../support/program.ts';
import type { WebhookReceiver } from '../../../support/webhook-receiver.ts';
import type { Scene } from '../scene.ts';

/** Longer than any promise; what took too long is written down by the row. */
const WAIT_MS_MAX = 120_000;

export interface Health {
  status: number;
  alarms: string[];
}

export async function healthOf(program: Program): Promise<Health> {
  const response = await program.get('/health', '');
  const { alarms } = (await response.json()) as { alarms: string[] };
  return { status: response.status, alarms };
}

/** Waits until /health has this status and these alarms. Returns how long that took, in ms. */
export function healthBecomes(program: Program, status: number, alarms: string[]): Promise<number> {
  return eventually(async () => Bun.deepEquals(await healthOf(program), { status, alarms }), WAIT_MS_MAX);
}

/** One alarm and its end: in the log since `from`, and posted. Returns how many lines were logged. */
export async function holdsOneAlarm(
  scene: Scene,
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
  scene.holds(
    alarms.length === 1 && alarms[0]!.includes(`"name":"${name}"`),
    `alarms in the log: ${alarms.join(' ')}`,
  );
  const raised = new Set(receiver.posts.filter(({ type }) => type === name).map(({ id }) => id));
  scene.holds(raised.size === 1, `posted: ${receiver.types().join(', ')}`);
  scene.holds(lines.length < 30, `${lines.length} lines were logged`);
  const live = await program.get('/health/live', '');
  scene.holds(live.status === 200, `/health/live is ${live.status}`);
  return lines.length;
}
