import { expect, test } from 'bun:test';
import { readyLedgerUrl } from '../../../test/support/database/ready-ledger.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createAccount, issueKey } from '../onboarding.ts';
import { Directory } from './directory.ts';

onEachEngine('directory', (engine) => {
  test('an account that moves to a new plan is returned as changed, also if a key of it is looked up first', async () => {
    const ledger = await Ledger.open(await readyLedgerUrl(engine), systemClock);
    const { account } = await createAccount(ledger, { name: 'Ant', plan: 'free' }, 0);
    const directory = await Directory.open({ ledger });
    const [plan] = await ledger.plans.list();
    await ledger.plans.set({ ...plan!, name: 'new' });
    await ledger.accounts.update(account.id, { plan: 'new' });
    const { text } = await issueKey(ledger, account.id, {}, 0);
    expect((await directory.lookUp(text))!.customer.plan.name).toBe('new');
    expect(await directory.follow(await ledger.head())).toContain(account.id);
    expect(await directory.follow(await ledger.head())).toEqual([]);
    await ledger.close();
  });
});
