import { type EngineName, newFolder, newLedgerUrl } from '../../support/ledger.ts';
import { openpit, Program } from '../../support/program.ts';
import { Replicas } from '../../support/replicas.ts';
import { type ScaleName, SLACK } from './scales.ts';

export type Settings = Record<string, string>;

export interface Account {
  account: string;
  key: string;
  keyId: string;
}

/** Where a row is played: what is started here is ended with it, and what does not hold is written down. */
export class Scene {
  /** Everything that did not hold, in words. */
  readonly broke: string[] = [];
  readonly #endings: (() => unknown)[] = [];
  readonly #slack: number;

  constructor(scale: ScaleName = 'full') {
    this.#slack = SLACK[scale];
  }

  /** Writes it down if something that must hold does not. The words say what was found. */
  holds(isSo: boolean, otherwise: string): void {
    if (!isSo) this.broke.push(otherwise);
  }

  /** Writes it down if something took longer than was promised. */
  holdsWithin(promisedMs: number, tookMs: number, what: string): void {
    this.holds(tookMs <= promisedMs * this.#slack, `${what} took ${Math.round(tookMs)} ms`);
  }

  /** Done at the end, the last first, whatever happened. */
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

  /** The real program, killed at the end if it is still there. */
  async program(settings: Settings): Promise<Program> {
    const program = await Program.start(settings);
    this.atEnd(() => program.end('SIGKILL'));
    return program;
  }

  /** So many replicas on one PostgreSQL, all started. */
  async replicas(databaseUrl: string, count: number): Promise<Replicas> {
    const replicas = new Replicas(databaseUrl, count);
    this.atEnd(() => replicas.end());
    await replicas.start();
    return replicas;
  }

  /** An account on a plan of its own, without delay unless told otherwise. */
  async account(settings: Settings, quota: number, delaySeconds = 0): Promise<Account> {
    const plan = `fault-${quota}-${delaySeconds}`;
    const limits = ['--quota', `${quota}`, '--burst', '1000000', '--delay-seconds', `${delaySeconds}`];
    await this.run(settings, 'plan', 'set', plan, ...limits);
    const made = await this.run(settings, 'account', 'create', '--name', 'A', '--plan', plan, '--json');
    return JSON.parse(made);
  }

  /** One command of the program, which must succeed. */
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
