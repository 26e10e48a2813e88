import { afterAll, describe, expect, test } from 'bun:test';
import { newFolder } from '../../support/ledger.ts';
import { newDatabase } from '../../support/postgres.ts';
import { Program } from '../../support/program.ts';

const REPLICAS = 3;
const ROUNDS = 2;

describe('replicas that start a demo together on an empty PostgreSQL', () => {
  const started: Program[] = [];
  afterAll(async () => {
    await Promise.all(started.map((program) => program.end('SIGKILL')));
  });

  test.each(Array.from({ length: ROUNDS }, (_, i) => i + 1))(
    'all serve simulated prices with their demo keys, round %d',
    async () => {
      const url = await newDatabase();
      const settings = () => ({
        OPENPIT_DATA_DIR: newFolder(),
        OPENPIT_DATABASE_URL: url,
        OPENPIT_DEMO: 'true',
        OPENPIT_PUBLIC_PLAN: 'free',
      });
      const outcomes = await Promise.allSettled(
        Array.from({ length: REPLICAS }, () => Program.start(settings())),
      );
      const programs = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      started.push(...programs);
      expect(outcomes.filter((one) => one.status === 'rejected').map((one) => String(one.reason))).toEqual(
        [],
      );
      for (const program of programs) {
        const response = await program.get('/rates/latest?symbols=XAU');
        expect(await response.json()).toMatchObject({
          success: true,
          metadata: { XAU: { source: 'simulated' } },
        });
      }
      await Promise.all(programs.map((program) => program.end('SIGKILL')));
    },
    120_000,
  );
});
