import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json';
import lock from '../../package-lock.json';
import { readReport } from '../../scripts/audit.ts';

interface Locked {
  version?: string;
  resolved?: string;
  integrity?: string;
  hasInstallScript?: boolean;
  /** Whether it is a package of this repository. */
  link?: boolean;
}
/** The packages of others. */
const LOCKED = Object.entries(lock.packages as Record<string, Locked>).filter(
  ([path, { link }]) => path.startsWith('node_modules/') && !link,
);

test('every dependency is pinned to one version', () => {
  const all = { ...packageJson.dependencies, ...packageJson.devDependencies };
  expect(Object.keys(all).length).toBeGreaterThan(10);
  for (const [name, version] of Object.entries(all))
    expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
});

test('the lock file has a checksum for every package', () => {
  for (const [path, { integrity }] of LOCKED) expect(integrity, path).toMatch(/^sha512-/);
});

test('only listed packages run an install script', () => {
  const allowed: Record<string, boolean> = packageJson.allowScripts;
  const withScripts = LOCKED.filter(([, { hasInstallScript }]) => hasInstallScript);
  expect(withScripts.length).toBeGreaterThan(0);
  for (const [path] of withScripts) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    expect(allowed[name], `${name} has an install script`).toBeDefined();
  }
});

test('the program itself has few dependencies', () => {
  expect(Object.keys(packageJson.dependencies).length).toBeLessThanOrEqual(10);
});

test('an audit with findings fails, and one that cannot reach the registry says so', () => {
  const found = { vulnerabilities: { evil: { severity: 'critical' }, so: { severity: 'moderate' } } };
  expect(readReport(JSON.stringify(found))).toEqual({ outcome: 'found', names: ['evil'] });
  expect(readReport('{"vulnerabilities":{}}')).toEqual({ outcome: 'clean' });
  expect(readReport('{"message":"405"}')).toEqual({ outcome: 'not asked', why: '405' });
  expect(readReport('')).toMatchObject({ outcome: 'not asked' });
});

test('the container and the service do not run as root, and their file system is read-only', async () => {
  const read = (file: string) => Bun.file(join(import.meta.dir, '..', '..', 'deploy', file)).text();
  const [dockerfile, compose, unit] = await Promise.all([
    read('Dockerfile'),
    read('compose.yaml'),
    read('openpit.service'),
  ]);
  expect(dockerfile).toMatch(/^FROM gcr\.io\/distroless\/base-debian12:nonroot$/m);
  expect(dockerfile.lastIndexOf('USER nonroot')).toBeGreaterThan(dockerfile.lastIndexOf('FROM '));
  expect(compose).toContain('read_only: true');
  expect(compose).toContain('cap_drop: [ALL]');
  expect(compose).toContain('security_opt: ["no-new-privileges:true"]');
  for (const line of ['DynamicUser=yes', 'NoNewPrivileges=yes', 'ProtectSystem=strict'])
    expect(unit).toContain(line);
});

test('there is a SECURITY.md for reporting vulnerabilities', () => {
  expect(existsSync(join(import.meta.dir, '..', '..', 'SECURITY.md'))).toBe(true);
});
