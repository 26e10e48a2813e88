import { join } from 'node:path';
import { newFolder } from './ledger.ts';
import { eventually } from './program.ts';

const CONF = join(import.meta.dir, '..', '..', 'deploy', 'nginx.conf');

/** What this machine lacks for it; undefined when nginx is installed. */
export function lacksNginx(): string | undefined {
  return nginxPath() ? undefined : 'nginx';
}

/** nginx with deploy/nginx.conf as it is, but for the ports and the folder. */
export class Nginx {
  readonly url: string;
  readonly #child;

  private constructor(port: number, conf: string, folder: string) {
    this.url = `http://127.0.0.1:${port}`;
    this.#child = Bun.spawn(
      [nginxPath()!, '-c', conf, '-p', folder, '-e', 'stderr', '-g', 'daemon off; pid nginx.pid;'],
      { stdio: ['ignore', 'ignore', 'ignore'] },
    );
  }

  static async before(programUrl: string): Promise<Nginx> {
    const folder = newFolder();
    const port = freePort();
    const deployed = await Bun.file(CONF).text();
    const conf = join(folder, 'nginx.conf');
    await Bun.write(conf, localConf(deployed, port, new URL(programUrl).host, folder));
    const nginx = new Nginx(port, conf, folder);
    await eventually(
      async () => (await fetch(`${nginx.url}/health`).catch(() => undefined))?.status === 200,
      5_000,
    );
    return nginx;
  }

  async end(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#child.exited;
  }
}

/** The deployed file, with one upstream on this machine and its temporary files in a folder of the test. */
function localConf(deployed: string, port: number, upstream: string, folder: string): string {
  const [first, ...others] = deployed.split('\n').filter((line) => /^ +server \w+:8080 /.test(line));
  let conf = deployed
    .replace(first!, `    server ${upstream} max_fails=0;`)
    .replace('listen 8080;', `listen 127.0.0.1:${port};`);
  for (const line of others) conf = conf.replace(`${line}\n`, '');
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temporary = kinds.map((kind) => `  ${kind}_temp_path ${join(folder, kind)};\n`).join('');
  return conf.replace('http {\n', `http {\n${temporary}`);
}

function nginxPath(): string | null {
  return Bun.which('nginx') ?? Bun.which('nginx', { PATH: '/usr/sbin:/usr/local/sbin' });
}

function freePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop();
  return port;
}
