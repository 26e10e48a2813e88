/** Pushes ticks on a schedule until stopped, and prints how many per second were accepted. */
const { url, token, codes, perSecond, pushesPerSecond } = JSON.parse(process.argv[2]!) as {
  url: string;
  token: string;
  codes: string[];
  perSecond: number;
  pushesPerSecond: number;
};
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
const perPush = perSecond / pushesPerSecond;
const run = Date.now();
let made = 0;
let taken = 0;
let isOver = false;
process.on('SIGTERM', () => {
  isOver = true;
});

const start = performance.now();
const underWay: Promise<void>[] = [];
for (let push = 0; !isOver; push++) {
  await Bun.sleep(Math.max(0, start + (push / pushesPerSecond) * 1000 - performance.now()));
  underWay.push(send()); // on time, whether or not the one before was answered
}
await Promise.all(underWay);
console.log(taken / ((performance.now() - start) / 1000));

async function send(): Promise<void> {
  const ticks = Array.from({ length: perPush }, () => {
    made++;
    const price = 100 + (made % 40) / 100;
    return { symbol: codes[made % codes.length], price, at: Date.now(), id: `${run}-${made}` };
  });
  const answer = await fetch(`${url}/admin/ticks?source=bench`, {
    method: 'POST',
    headers,
    body: JSON.stringify(ticks),
  });
  if (!answer.ok) throw new Error(await answer.text());
  taken += ticks.length;
}

export {};
