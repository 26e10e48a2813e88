import { join } from 'node:path';
import { browserPath, openBrowser } from '../browser/browser.ts';
import { newFolder } from '../support/ledger.ts';
import { bundledClient } from './bundled-client.ts';
import { listen, sendOnce, sendRequests } from './scenario.ts';

const scenario = { listen, sendOnce, sendRequests };
type Scenario = typeof scenario;

/** Runs one function of the scenario in a runtime. */
export interface ScenarioRuntime {
  name: string;
  run<N extends keyof Scenario>(
    name: N,
    argument: Parameters<Scenario[N]>[0],
  ): Promise<Awaited<ReturnType<Scenario[N]>>>;
}

const bun: ScenarioRuntime = {
  name: 'Bun',
  run: (name, argument) => scenario[name](argument as never) as never,
};

const node: ScenarioRuntime = {
  name: 'Node',
  async run(name, argument) {
    const file = join(newFolder(), 'scenario.mjs');
    const call = `console.log(JSON.stringify(await ${name}(${JSON.stringify(argument)})));process.exit()`;
    await Bun.write(file, `${(await bundledScenario()).replace(/export \{[^}]*\};?\s*$/, '')}\n${call}`);
    const child = Bun.spawn(['node', file], { stdio: ['ignore', 'pipe', 'pipe'] });
    const [text, errors] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    if ((await child.exited) !== 0) throw new Error(errors);
    return JSON.parse(text);
  },
};

/** On a page of another origin, as in an application of a customer. */
const chromium: ScenarioRuntime = {
  name: 'Chromium',
  async run(name, argument) {
    using origin = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('a page') });
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(origin.url.href);
      return await page.evaluate(
        async ([code, name, argument]) => {
          const module = await import(`data:text/javascript,${encodeURIComponent(code)}`);
          return module[name](argument);
        },
        [await bundledScenario(), name, argument] as const,
      );
    } finally {
      await browser.close();
    }
  },
};

function bundledScenario(): Promise<string> {
  return bundledClient({ entry: join(import.meta.dir, 'scenario.ts') });
}

/** Every runtime that this machine has. */
export async function runtimes(): Promise<ScenarioRuntime[]> {
  const all = [bun];
  if (Bun.which('node')) all.push(node);
  else console.warn('SKIPPED: the client in Node, which is not installed');
  if (await browserPath()) all.push(chromium);
  else console.warn('SKIPPED: the client in a browser: install Chromium, or name one in CHROMIUM_PATH');
  return all;
}
