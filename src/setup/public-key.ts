import { ConfigError } from '../config/values.ts';
import type { Config } from '../config.ts';
import { createKey, hashKey, secureRandom } from '../gate/key.ts';
import { addKnownKey, PUBLIC_ACCOUNT } from '../gate/onboarding.ts';
import { isActive } from '../ledger/accounts/keys.ts';
import type { Ledger } from '../ledger/ledger.ts';

const META = 'public-key';

/**
 * The key that the page gives to every visitor, if the operator has set a public plan. It is not a secret, so the ledger
 * stores its text for all replicas. Without the setting the page does not give it out, and the gate refuses it.
 */
export async function publicKey(config: Config, ledger: Ledger, now: number): Promise<string | undefined> {
  const { publicPlan: plan } = config;
  if (plan === undefined) return undefined;
  const plans = (await ledger.plans.list()).map(({ name }) => name);
  if (!plans.includes(plan))
    throw new ConfigError(`OPENPIT_PUBLIC_PLAN must be one of ${plans.join(', ')} (it is "${plan}").`);
  const text = await ledger.metaOnce(META, () => createKey(secureRandom));
  const known = await ledger.accounts.byKeyHash(hashKey(text));
  if (known && isActive(known.key, now)) {
    if (known.account.plan !== plan) await ledger.accounts.update(PUBLIC_ACCOUNT, { plan });
    return text;
  }
  if (known) {
    // It was revoked, so a new one replaces it.
    await ledger.setMeta(META, createKey(secureRandom));
    return publicKey(config, ledger, now);
  }
  try {
    await addKnownKey(ledger, { id: PUBLIC_ACCOUNT, name: 'Everybody who opens the page', plan }, text, now);
  } catch (error) {
    // Another replica that started at the same time was first.
    if (!(await ledger.accounts.byKeyHash(hashKey(text)))) throw error;
  }
  return text;
}
