import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childrenOf } from '../../test/support/child-processes.ts';
import { freePort } from '../../test/support/http/free-port.ts';
import type { Target } from './process.ts';

export const HAS_NGINX = Bun.which('nginx') !== null;

/** nginx takes no longer string in its settings; a longer body is a file that it keeps open. */
const RETURN_LENGTH_MAX = 3_500;

/** The response that nginx sends for a path. */
export interface FixedResponse {
  body: string;
  headers: Record<string, string>;
}

/** The limit: nginx on one core, sending one response per path; the response of `/` is for all other paths. */
export async function startNginx(responses: Readonly<Record<string, FixedResponse>>): Promise<Target> {
  const dir = join(tmpdir(), `openpit-bench-nginx-${process.pid}-${Math.floor(performance.now())}`);
  mkdirSync(dir, { recursive: true });
  const port = freePort();
  const locations = Object.entries(responses).map(([path, { body, headers }], i) => {
    writeFileSync(join(dir, `body-${i}.json`), body);
    return location(path, `body-${i}.json`, body, headers);
  });
  writeFileSync(join(dir, 'nginx.conf'), settings(dir, port, locations));
  const child = Bun.spawn(['taskset', '-c', '0', 'nginx', '-c', join(dir, 'nginx.conf'), '-p', dir], {
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  process.on('exit', () => child.kill('SIGTERM')); // also when the benchmark fails
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer) break;
    if (tries > 100) throw new Error('nginx did not start');
    await Bun.sleep(50);
  }
  return {
    name: 'nginx',
    url,
    pids: childrenOf(child.pid),
    async stop() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}

function settings(dir: string, port: number, locations: readonly string[]): string {
  return `
daemon off; worker_processes 1; pid ${dir}/nginx.pid; error_log ${dir}/error.log;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; open_file_cache max=10 inactive=60s; open_file_cache_valid 60s;
  keepalive_requests 100000000; default_type 'application/json; charset=utf-8';
  geo $dollar { default "$"; }
  server { listen 127.0.0.1:${port}; root ${dir};
${locations.join('')}  } }
`;
}

function location(path: string, file: string, body: string, headers: Record<string, string>): string {
  const quote = (text: string) =>
    `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('$', '$'.concat('{dollar}'))}'`;
  const added = Object.entries(headers)
    .filter(([name]) => !/^(content-type|content-length|date|connection)$/i.test(name))
    .map(([name, value]) => `add_header ${name} ${quote(value)};`)
    .join('\n      ');
  const answer = body.length <= RETURN_LENGTH_MAX ? `return 200 ${quote(body)};` : `try_files /${file} =404;`;
  return `    location ${path === '/' ? '/' : `= ${path}`} {
      etag off;
      ${added}
      ${answer}
    }
`;
}
