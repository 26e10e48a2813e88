import type { Webhook } from '../gate/webhook.ts';
import { type AlarmIdentity, type AlarmStore, alarmKey, type Claim } from '../ledger/operations/alarms.ts';
import { type ReplicaStore, SILENT_MS } from '../ledger/operations/replicas.ts';
import { type Clock, elapsedMs } from '../runtime/clock.ts';
import { type Log, messageOf } from '../runtime/log/log.ts';
import type { ActiveAlarm } from './alarms.ts';
import type { UnstoredPosts } from './unstored-posts.ts';

export interface AlarmPosterOptions {
  store: AlarmStore;
  replicas: Pick<ReplicaStore, 'list'>;
  /** Whether the store can be used: it is in the ledger, whose outage is an alarm too. */
  isStoreReachable(): boolean;
  webhook: Webhook;
  unstored: UnstoredPosts;
  /** Gives up posts in progress: another replica, or the next start, repeats them. */
  signal: AbortSignal;
  clock: Clock;
  log: Log;
}

/** What the webhook is to be sent. */
interface Post {
  kind: 'begin' | 'end';
  event: Readonly<Record<string, unknown>>;
  version: string;
  /** The occurrence, where the store cannot be asked. */
  unstored: string;
}

/** What is known of an alarm that was or will be posted. */
interface PostedAlarm {
  identity: AlarmIdentity;
  /** Until it is delivered. */
  post: Post | undefined;
  isSending: boolean;
  retryAt: number;
  /** The occurrence that was posted last, and whether the store knows it. */
  occurrence?: { id: string; isStored: boolean };
}

/** How long a replica may take for a post before another one may try. A failed post is repeated after this time. */
const CLAIM_MS = 60_000;

/** How soon to ask again whether the replica that posts has succeeded. */
const TAKEN_RETRY_MS = 1_000;

/** A receiver that does not respond takes ten seconds of each. */
const SENDING_MAX = 4;

/**
 * How often to look for alarms whose process is gone. One that no process has at two looks is over: a process that
 * restarts needs up to 15 s to notice that its feeds still fail.
 */
const LOOK_EVERY_MS = 60_000;

/** Posts that alarms begin and end, each by one replica, and never waits for the receiver. */
export class AlarmPoster {
  readonly #options: AlarmPosterOptions;
  readonly #alarms = new Map<string, PostedAlarm>();
  readonly #sending = new Set<Promise<void>>();
  /** Records in the ledger what was posted without it. Resolves also if that fails. */
  #recording: Promise<void> | undefined;
  /** The alarms that no process had at the last look. */
  #abandoned = new Set<string>();
  #lookAt = 0;

  constructor(options: AlarmPosterOptions) {
    this.#options = options;
  }

  begin(alarm: ActiveAlarm, since: number): void {
    const { event, version } = alarm;
    this.#want(alarm, { kind: 'begin', event, version: version ?? '', unstored: version ?? String(since) });
  }

  /** A receiver that never got the alarm does not need its end. */
  end(identity: AlarmIdentity, seconds: number): void {
    const { name, subject } = identity;
    const known = this.#alarms.get(alarmKey(identity));
    if (known?.post?.kind === 'begin' && !known.isSending) {
      this.#alarms.delete(alarmKey(identity));
      return;
    }
    const event = { type: 'alarm.over', alarm: name, ...subject, seconds };
    this.#want(identity, { kind: 'end', event, version: '', unstored: known?.occurrence?.id ?? '' });
  }

  /** Starts the posts that are due. `isRaised` tells whether this process has an alarm. */
  run(isRaised: (key: string) => boolean): void {
    const now = elapsedMs(this.#options.clock);
    const isLookDue = now >= this.#lookAt && this.#options.isStoreReachable();
    if (isLookDue) {
      this.#lookAt = now + LOOK_EVERY_MS;
      this.#recording = this.#recordPosts();
      this.#track(this.#recording.then(() => this.#endAbandoned(isRaised)));
    }
    for (const [key, alarm] of this.#alarms) {
      if (this.#sending.size >= SENDING_MAX) break;
      if (alarm.post && !alarm.isSending && now >= alarm.retryAt)
        this.#track(this.#send(key, alarm, alarm.post));
    }
  }

  /** Waits for the posts in progress. */
  async settled(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending);
  }

  #want(identity: AlarmIdentity, post: Post): void {
    const key = alarmKey(identity);
    const known = this.#alarms.get(key) ?? { identity, post, isSending: false, retryAt: 0 };
    known.post = post;
    known.retryAt = 0;
    this.#alarms.set(key, known);
  }

  #track(work: Promise<void>): void {
    const tracked: Promise<void> = work.finally(() => this.#sending.delete(tracked));
    this.#sending.add(tracked);
  }

  async #send(key: string, alarm: PostedAlarm, post: Post): Promise<void> {
    const { clock, log, signal } = this.#options;
    alarm.isSending = true;
    const outcome = await this.#deliver(alarm, post).catch((error) => {
      if (!signal.aborted)
        log.warn('webhook failed, will be retried', { name: key, message: messageOf(error) });
      return 'failed' as const;
    });
    alarm.isSending = false;
    const isDelivered = outcome === 'delivered';
    if (alarm.post === post) {
      if (isDelivered) alarm.post = undefined;
      else alarm.retryAt = elapsedMs(clock) + (outcome === 'taken' ? TAKEN_RETRY_MS : CLAIM_MS);
    } else if (alarm.post?.kind === 'end' && !isDelivered) alarm.post = undefined; // the beginning was not delivered
    if (!alarm.post && !(post.kind === 'begin' && isDelivered)) this.#alarms.delete(key);
  }

  /** Sends a post, unless it has been delivered or another replica is sending it. */
  async #deliver(alarm: PostedAlarm, post: Post): Promise<'delivered' | 'taken'> {
    const { webhook, signal } = this.#options;
    const { identity } = alarm;
    const { isStored, state, occurrence } = await this.#claim(alarm, post);
    if (state === 'taken') return 'taken';
    alarm.occurrence = { id: occurrence, isStored };
    if (state === 'delivered') return 'delivered';
    await webhook.send(webhookId(identity, occurrence, post), post.event, signal);
    alarm.occurrence.isStored = isStored && (await this.#markDelivered(identity, occurrence));
    if (!alarm.occurrence.isStored) this.#save(identity, occurrence, post);
    return 'delivered';
  }

  async #markDelivered(identity: AlarmIdentity, occurrence: string): Promise<boolean> {
    try {
      await this.#options.store.markDelivered(identity, occurrence);
      return true;
    } catch {
      return false;
    }
  }

  /** Saves a post until the ledger can record it. If this fails, another process may repeat it, with the same id. */
  #save(alarm: AlarmIdentity, occurrence: string, { kind, version }: Post): void {
    const { clock, log, unstored } = this.#options;
    if (occurrence === '') return; // the end of an alarm that this process did not post
    const { name, subject } = alarm;
    try {
      const identity = { name, ...(subject && { subject }) };
      unstored.save({
        alarm: identity,
        occurrence,
        version,
        isOver: kind === 'end',
        postedAt: clock.now(),
      });
    } catch (error) {
      log.warn('a post to the webhook could not be recorded', { name, message: messageOf(error) });
    }
  }

  async #recordPosts(): Promise<void> {
    const { log, store, unstored } = this.#options;
    try {
      for (const post of unstored.list()) {
        await store.recordPost(post);
        unstored.delete(post);
      }
    } catch (error) {
      log.debug('posts to the webhook could not be recorded', { message: messageOf(error) });
    }
  }

  /** Without the store every replica posts, with one id if all know the version: an alarm about the ledger must not wait for it. */
  async #claim(alarm: PostedAlarm, post: Post): Promise<Claim & { isStored: boolean }> {
    const { isStoreReachable, store } = this.#options;
    const { identity, occurrence } = alarm;
    const posted = occurrence?.isStored === false ? occurrence.id : undefined;
    const ask = () =>
      post.kind === 'begin'
        ? store.begin(identity, post.version, CLAIM_MS)
        : store.end(identity, CLAIM_MS, posted);
    const claim = isStoreReachable()
      ? await (this.#recording ?? Promise.resolve()).then(ask).catch(() => undefined)
      : undefined;
    return claim
      ? { ...claim, isStored: true }
      : { state: 'claimed', occurrence: post.unstored, isStored: false };
  }

  /** Posts the ends of alarms whose processes have ended with them. */
  async #endAbandoned(isRaised: (key: string) => boolean): Promise<void> {
    const { store, replicas } = this.#options;
    try {
      const { now, alarms } = await store.unfinished();
      const serving = (await replicas.list()).replicas.filter(({ seen }) => now - seen <= SILENT_MS);
      const reported = new Set(serving.flatMap((replica) => replica.alarms.map(alarmKey)));
      const unreported = alarms.filter(
        (alarm) => !isRaised(alarmKey(alarm)) && !reported.has(alarmKey(alarm)),
      );
      for (const alarm of unreported) {
        const seconds = Math.max(0, Math.round((now - alarm.since) / 1_000));
        if (this.#abandoned.has(alarmKey(alarm))) this.end(alarm, seconds);
      }
      this.#abandoned = new Set(unreported.map(alarmKey));
      await store.forget();
    } catch (error) {
      this.#options.log.debug('alarms of other processes could not be read', { message: messageOf(error) });
    }
  }
}

/** An opaque text for a header: a subject and a version may contain any characters. */
function webhookId(identity: AlarmIdentity, occurrence: string, { kind }: Post): string {
  const hash = new Bun.CryptoHasher('sha256').update(`${alarmKey(identity)}\n${occurrence}`).digest('hex');
  return `${identity.name}.${hash.slice(0, 16)}${kind === 'end' ? '.over' : ''}`;
}
