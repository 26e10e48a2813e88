import type { ConfirmedWrites } from '../../api/ledger-reads/confirmed-writes.ts';
import type { Board } from '../../board/board.ts';
import type { Catalog } from '../../board/catalog.ts';
import type { FeedStates } from '../../feeds/thread/feed-states.ts';
import type { Gate } from '../../gate/gate.ts';
import type { Meter } from '../../gate/meter/meter.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { FollowerLag } from '../../ops/follower-lag.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log/log.ts';

export interface FollowerParts {
  ledger: Ledger;
  gate: Gate;
  meter: Meter;
  board: Board;
  feedStates: FeedStates;
  confirmedWrites: ConfirmedWrites;
  followerLag: FollowerLag;
  clock: Clock;
  log: Log;
}

/**
 * Returns a function that loads what was written to the ledger since it was last called: keys, plans, prices, feed states. Calls run
 * one after the other: an older state of the ledger must not follow a newer one.
 */
export function createFollower(parts: FollowerParts): () => Promise<void> {
  const { ledger, gate, meter, board, feedStates, confirmedWrites, followerLag, clock, log } = parts;
  let { epoch } = board;
  let catalog: Catalog | undefined;
  const follow = async () => {
    const followed = followerLag.begin();
    const writesFollowed = confirmedWrites.beginFollowing();
    const head = await ledger.head();
    if (head.epoch !== epoch) {
      log.warn('the ledger has failed over or was restored: reloading everything from it', {});
      meter.reportAll();
    }
    epoch = head.epoch;
    meter.refresh(await gate.follow(head));
    await board.follow(head);
    writesFollowed();
    const hasRead = await feedStates.follow(clock.now());
    // Several times a second would take a noticeable share of a core with thousands of symbols.
    if (hasRead || board.catalog !== catalog) board.setLateFrom((code) => feedStates.lateFrom(code));
    catalog = board.catalog;
    followed();
  };
  let running = Promise.resolve();
  return () => {
    running = running.catch(() => {}).then(follow);
    return running;
  };
}
