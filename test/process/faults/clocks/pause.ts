import { Cluster, PATH } from '../../../replicas/cluster.ts';
import { crowd } from '../../../replicas/crowd.ts';
import { readyLedgerUrl } from '../../../support/database/ready-ledger.ts';
import { count, usedOf } from '../environment.ts';
import { row } from '../row.ts';

export const pause = row('pause', {
  fault: 'a replica is paused (SIGSTOP) and resumed',
  mustHold: 'never over the quota; nothing is lost; it serves again within 2 s',
  async run(environment, { pauseMs, quota }) {
    const cluster = await Cluster.start(await readyLedgerUrl('postgres'), 2);
    environment.atEnd(() => cluster.end());
    const { key } = await cluster.newAccount(quota);
    const [first, second] = cluster.urls;
    const ask = (urls: string[], requests: number) =>
      crowd({ urls, path: PATH, key, connections: 4, requests });
    const before = await ask([first!, second!], quota / 4);
    process.kill(cluster.replicas.programs[0]!.pid, 'SIGSTOP');
    const meanwhile = await ask([second!], quota / 2);
    await Bun.sleep(pauseMs);
    process.kill(cluster.replicas.programs[0]!.pid, 'SIGCONT');
    const start = performance.now();
    while ((await (await fetch(first! + PATH, { headers: { 'x-api-key': key } })).status) === 503)
      await Bun.sleep(20);
    const backMs = performance.now() - start;
    const after = await ask([first!, second!], quota);
    const answered = before.count(200) + meanwhile.count(200) + after.count(200) + 1;
    const used = await usedOf(cluster.replicas.programs[0]!, key);
    environment.holds(
      answered === quota && used === quota,
      `quota ${quota}: ${answered} answered, ${used} used`,
    );
    environment.holdsWithin(2_000, backMs, 'to serve again');
    for (const wrong of await cluster.wrongCounts()) environment.holds(false, wrong);
    return {
      tried: `one of two replicas paused for ${pauseMs / 1000} s in the middle of a quota of ${count(quota)}`,
      figures: `exactly ${count(answered)} answered; it served again after ${Math.round(backMs)} ms`,
    };
  },
});
