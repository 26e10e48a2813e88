/** Spends 1,000 units of one lease in the spool of the given folder, prints it, and waits to be killed. */
import { COUNTED_ENDPOINTS } from '../../../src/gate/endpoints.ts';
import { Spool } from '../../../src/gate/spool/spool.ts';
import { addUnits } from '../spool.ts';

const spool = new Spool({ dir: process.argv[2]!, endpoints: COUNTED_ENDPOINTS, warn: console.error });
const record = spool.add({ accountId: 'account-1', period: 202611, leaseId: 'lease-1', replica: 'r1' });
for (let i = 1; i <= 1_000; i++) addUnits(record, 0, 1);
console.log('spent 1000');
setTimeout(() => {}, 20_000); // exits by itself otherwise
