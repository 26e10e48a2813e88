import { demoFolder } from '../../support/database/demo-folder.ts';
import { type EngineName, newFolder, newLedgerUrl } from '../../support/ledger.ts';
import { openpit, Program } from '../../support/program.ts';
import { Replicas } from '../../support/replication/replicas.ts';
import { type ScaleName, SLACK } from './scales.ts';

export type Settings = Record<string, string>;

export interface Account {
  account: string;
  key: string;
  keyId: string;
}

/** The environment of a row: it ends what was started in it, and records what does not hold. */
export class Environment {
  /** Descriptions of everything that did not hold. */
  readonly broke: string[] = [];
  readonly #endings: (() => unknown)[] = [];
  readonly #scale: ScaleName;

  constructor(scale: ScaleName = 'full') {
    this.#scale = scale;
  }

  /** Records a fault if the condition does not hold. The text describes what was found. */
  holds(isSo: boolean, otherwise: string): void {
    if (!isSo) this.broke.push(otherwise);
  }

  /** Records a fault if something took longer than promised. */
  holdsWithin(promisedMs: number, tookMs: number, what: string): void {
    this.holds(tookMs <= promisedMs * SLACK[this.#scale], `${what} took ${Math.round(tookMs)} ms`);
  }

  /** Records a fault if the fault slowed requests down. In CI other tests share the cores, and latencies say nothing. */
  holdsLatency(promisedMs: number, tookMs: number, what: string): void {
    if (this.#scale === 'full') this.holdsWithin(promisedMs, tookMs, what);
  }

  /** Runs at the end, in reverse order, whatever happened. */
  atEnd(ending: () => unknown): void {
    this.#endings.push(ending);
  }

  async end(): Promise<void> {
    for (const ending of this.#endings.splice(0).reverse()) {
      try {
        await ending();
      } catch (error) {
        this.broke.push(`it could not be cleaned up: ${error}`);
      }
    }
  }

  /** The settings of a new, empty service. */
  async settings(engine: EngineName = 'sqlite'): Promise<Settings> {
    const settings: Settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
    if (engine === 'postgres') settings.OPENPIT_DATABASE_URL = await newLedgerUrl(engine);
    return settings;
  }

  /** The settings of a demo that was started before. */
  async demoSettings(): Promise<Settings> {
    return { OPENPIT_DATA_DIR: await demoFolder(), OPENPIT_DEMO: 'true' };
  }

  /** Starts the real program, which is killed at the end if it still runs. */
  async program(settings: Settings): Promise<Program> {
    const program = await Program.start(settings);
    this.atEnd(() => program.end('SIGKILL'));
    return program;
  }

  /** Starts replicas on one PostgreSQL. */
  async replicas(databaseUrl: string, count: number): Promise<Replicas> {
    const replicas = new Replicas(databaseUrl, count);
    this.atEnd(() => replicas.end());
    await replicas.start();
    return replicas;
  }

  /** Creates an account on a new plan, by default without delay. */
  async account(settings: Settings, quota: number, delaySeconds = 0): Promise<Account> {
    const plan = `fault-${quota}-${delaySeconds}`;
    const limits = ['--quota', `${quota}`, '--burst', '1000000', '--delay-seconds', `${delaySeconds}`];
    await this.run(settings, 'plan', 'set', plan, ...limits);
    const made = await this.run(settings, 'account', 'create', '--name', 'A', '--plan', plan, '--json');
    return JSON.parse(made);
  }

  /** Runs a command, which must succeed. */
  async run(settings: Settings, ...args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await openpit(args, settings);
    if (exitCode !== 0) throw new Error(`openpit ${args[0]} ended with ${exitCode}: ${stderr || stdout}`);
    return stdout;
  }

  /** `openpit check` finds every count right. */
  async holdsInvariant(settings: Settings): Promise<void> {
    const { stdout, stderr } = await openpit(['check'], settings);
    this.holds(stdout.includes('All counts add up'), `openpit check: ${stdout}${stderr}`);
  }
}

export async function usedOf(program: Program, key: string): Promise<number> {
  const usage = (await (await program.get('/usage', key)).json()) as { used: number };
  return usage.used;
}

/** 1234567 → 1,234,567 */
export function count(n: number): string {
  return n.toLocaleString('en-US');
}
