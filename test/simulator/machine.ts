import { rmSync } from 'node:fs';
import type { CountedEndpoint } from '../../src/gate/endpoints.ts';
import type { MeteredAccount } from '../../src/gate/meter/account-lease.ts';
import { Meter } from '../../src/gate/meter/meter.ts';
import type { LockSlot } from '../../src/gate/spool/slot-lock.ts';
import { newFolder } from '../support/ledger.ts';
import type { Network } from './network.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A replica on its own host, with wrong clocks and a disk that outlives the process. It can be killed, frozen and lost. */
export class Machine {
  readonly #time: VirtualTime;
  readonly #network: Network;
  readonly #random: Random;
  readonly #newId: () => string;
  readonly #accountIds: () => readonly string[];
  readonly #disk = newFolder();
  readonly #wallOffset: number;
  readonly #drift: number;
  #sleptMs = 0;
  #life = 0;
  #locks = new Set<string>();
  /** While the process is frozen: the calls that wait for it to resume. */
  #frozen: (() => void)[] | undefined;
  meter: Meter | undefined;
  /** What the process has in memory of each account. */
  #accounts = new Map<string, MeteredAccount>();
  isLost = false;

  constructor(
    time: VirtualTime,
    network: Network,
    random: Random,
    newId: () => string,
    accountIds: () => readonly string[],
  ) {
    this.#accountIds = accountIds;
    this.#time = time;
    this.#network = network;
    this.#random = random;
    this.#newId = newId;
    this.#wallOffset = random.between(-7_200_000, 7_200_000);
    this.#drift = 1 + random.between(-0.0005, 0.0005);
  }

  /** Counts process starts. Replies to an earlier process are dropped. */
  get life(): number {
    return this.#life;
  }

  async start(): Promise<void> {
    const life = ++this.#life;
    this.#frozen = undefined;
    this.#accounts = new Map();
    const deliver = (call: () => void) => this.#inLife(life, call);
    try {
      const meter = await Meter.open({
        ledger: { quota: this.#network.callsFor(deliver) },
        clock: { now: () => Math.round(this.#time.now + this.#wallOffset) },
        monotonic: { now: () => (this.#time.now - this.#sleptMs) * this.#drift },
        scheduler: { after: (ms, call) => this.#time.after(ms, () => this.#inLife(life, call)) },
        spoolDir: this.#disk,
        spoolRecordsPerFile: 4,
        newId: this.#newId,
        lock: this.#lock,
      });
      if (life === this.#life) this.meter = meter;
      void meter.isAlone().then(
        (isAlone) => (isAlone ? meter.leaseAhead(this.#accountIds()) : undefined),
        () => {}, // the call was lost: accounts lease with their first request
      );
    } catch {
      // The ledger was unreachable: a supervisor would restart the process.
      this.#time.after(1_000, () => this.#inLife(life, () => void this.start()));
      this.#locks.clear();
    }
  }

  /** Requests units of an account. Undefined while the process is starting. */
  spend(accountId: string, endpoint: CountedEndpoint, units: number): ReturnType<Meter['spend']> | undefined {
    const account = this.#accounts.getOrInsertComputed(accountId, (id) => ({ id }));
    return this.meter?.spend(account, endpoint, undefined, units);
  }

  /** SIGKILL: the process ends and its locks are released, but its disk stays. */
  kill(): void {
    this.#life++;
    this.meter = undefined;
    this.#locks.clear();
    this.#frozen = undefined;
  }

  /** Deletes its disk after the run. */
  discard(): void {
    rmSync(this.#disk, { recursive: true });
  }

  /** Freezes the process. If the whole machine is suspended, its monotonic clock stops too. */
  freeze(ms: number, machineSleeps: boolean): void {
    if (this.#frozen) return;
    this.#frozen = [];
    const life = this.#life;
    this.#time.after(ms, () => {
      if (life !== this.#life) return;
      if (machineSleeps) this.#sleptMs += ms;
      const pending = this.#frozen ?? [];
      this.#frozen = undefined;
      // In any order: a request may be served before timers that were due.
      while (pending.length > 0)
        this.#inLife(life, pending.splice(this.#random.int(0, pending.length - 1), 1)[0]!);
    });
  }

  /** Calls when the process runs; never if it was killed in the meantime. */
  inProcess(call: () => void): void {
    this.#inLife(this.#life, call);
  }

  #inLife(life: number, call: () => void): void {
    if (life !== this.#life) return;
    if (this.#frozen) this.#frozen.push(call);
    else call();
  }

  /** Simulates file locks, which the operating system releases when a process ends. */
  readonly #lock: LockSlot = (path) => {
    if (this.#locks.has(path)) return undefined;
    this.#locks.add(path);
    return { release: () => this.#locks.delete(path) };
  };
}
