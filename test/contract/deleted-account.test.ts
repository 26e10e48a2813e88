import { expect, test } from 'bun:test';
import { createAccount } from '../../src/gate/onboarding.ts';
import { onEachEngine } from '../support/ledger.ts';
import { ledgersOf, NOW } from '../support/ledgers.ts';

onEachEngine('a key for an account that was deleted in the meantime', (engine) => {
  const ledgers = ledgersOf(engine);

  test('is refused, not an error', async () => {
    const { accounts } = await ledgers.shared();
    const { account, issued } = await createAccount(await ledgers.shared(), { name: 'A', plan: 'free' }, NOW);
    await accounts.delete(account.id);
    expect(await accounts.addKey({ ...issued.key, id: 'key_late', hash: 'late' })).toBe('no_account');
  });
});
