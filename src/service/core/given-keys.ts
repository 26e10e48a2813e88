import type { PageKeys } from '../../api/site/page-key.ts';
import type { Config } from '../../config.ts';
import { hashKey } from '../../gate/key.ts';
import { isActive } from '../../ledger/accounts/keys.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Log, messageOf } from '../../runtime/log/log.ts';
import { demoKey } from '../../setup/demo.ts';
import { publicKey } from '../../setup/public-key.ts';

/** The keys that the page gives out. One that was revoked or deleted is replaced. */
export class GivenKeys implements PageKeys {
  readonly #config: Config;
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  demoKey: string | undefined;
  publicKey: string | undefined;
  /** The change of the directory after which they were checked. */
  #checkedAt = 0;

  private constructor(config: Config, ledger: Ledger, clock: Clock) {
    this.#config = config;
    this.#ledger = ledger;
    this.#clock = clock;
  }

  static async open(config: Config, ledger: Ledger, clock: Clock, isDemo: boolean): Promise<GivenKeys> {
    const keys = new GivenKeys(config, ledger, clock);
    if (isDemo) keys.demoKey = await demoKey(config, ledger, clock.now());
    keys.publicKey = await publicKey(config, ledger, clock.now());
    return keys;
  }

  /** Checks them again if keys have changed. A failure is not one of following: the next call tries again. */
  async follow(change: number, log: Log): Promise<void> {
    if (change === this.#checkedAt) return;
    try {
      const now = this.#clock.now();
      if (await this.#isLost(this.demoKey)) this.demoKey = await demoKey(this.#config, this.#ledger, now);
      if (await this.#isLost(this.publicKey))
        this.publicKey = await publicKey(this.#config, this.#ledger, now);
      this.#checkedAt = change;
    } catch (error) {
      log.warn('the key of the page could not be replaced', { message: messageOf(error) });
    }
  }

  async #isLost(text: string | undefined): Promise<boolean> {
    if (text === undefined) return false;
    const known = await this.#ledger.accounts.byKeyHash(hashKey(text));
    return !known || !isActive(known.key, this.#clock.now());
  }
}
