import { ADMIN_TOKEN_CHARACTERS_MIN } from '../../config/warnings.ts';
import type { Config } from '../../config.ts';
import { isLoopback, readRange } from '../../gate/addresses.ts';
import { requireAccessLog } from '../../ops/access-log-file.ts';
import { isKeyExposed, readCredentials } from '../../ops/tls/certificate-files.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** Renewal is due 30 days before expiry, so at 14 days it has failed. */
const CERTIFICATE_DAYS_MIN = 14;

/** A random token of 16 characters has at least this many distinct ones. */
const TOKEN_DISTINCT_MIN = 6;

/** Wider ranges contain machines that are not proxies. */
const PROXY_PREFIX_MIN = { ipv4: 24, ipv6: 64 };

const NEW_TOKEN = 'set OPENPIT_ADMIN_TOKEN to the output of: openssl rand -hex 24';

export async function checkSettings(
  config: Config,
  errors: readonly string[],
  now: number,
): Promise<Finding[]> {
  const findings = [
    ...errors.map((message) =>
      problem('settings.invalid', message, 'correct it; the service does not start with it'),
    ),
    ...unknownSettings(config),
    ...adminToken(config),
    ...trustedProxies(config),
    ...(await transport(config, now)),
    ...webhook(config),
    ...accessLog(config),
    ...withoutEffect(config),
  ];
  return findings.length > 0 ? findings : [ok('settings.valid', 'every setting is valid')];
}

function unknownSettings({ unknownSettings }: Config): Finding[] {
  return unknownSettings.map(({ name, meant }) =>
    warning(
      'settings.unknown',
      `${name} is not a setting and has no effect`,
      meant ? `rename it to ${meant}` : 'remove it; openpit serve --help lists the settings',
    ),
  );
}

function adminToken({ adminToken: token }: Config): Finding[] {
  if (token === undefined) return [];
  if (token.length < ADMIN_TOKEN_CHARACTERS_MIN) {
    const text = `OPENPIT_ADMIN_TOKEN has fewer than ${ADMIN_TOKEN_CHARACTERS_MIN} characters and can be guessed`;
    return [problem('settings.admin_token', text, NEW_TOKEN)];
  }
  if (new Set(token).size >= TOKEN_DISTINCT_MIN) return [];
  return [
    problem(
      'settings.admin_token',
      'OPENPIT_ADMIN_TOKEN repeats few characters and can be guessed',
      NEW_TOKEN,
    ),
  ];
}

function trustedProxies({ trustedProxies }: Config): Finding[] {
  return trustedProxies.flatMap((entry) => {
    const { prefix, family } = readRange(entry)!;
    if (prefix >= PROXY_PREFIX_MIN[family]) return [];
    const text = `OPENPIT_TRUSTED_PROXIES trusts ${entry}: every machine in it can forge client addresses`;
    const fix = 'list only the addresses of your proxies';
    return prefix === 0
      ? problem('settings.trusted_proxies', text, fix)
      : warning('settings.trusted_proxies', text, fix);
  });
}

/** Keys must not be sent in plain text. */
async function transport(config: Config, now: number): Promise<Finding[]> {
  const { host, tls, trustedProxies } = config;
  if (tls) return certificate(tls, now);
  if (host === 'localhost' || isLoopback(host) || trustedProxies.length > 0) return [];
  return [
    warning(
      'settings.plain_text',
      `the service listens on ${host} without TLS, so API keys and the admin token are sent in plain text`,
      'set OPENPIT_TLS_CERT and OPENPIT_TLS_KEY, or put a TLS proxy in front and list it in OPENPIT_TRUSTED_PROXIES',
    ),
  ];
}

async function certificate(files: NonNullable<Config['tls']>, now: number): Promise<Finding[]> {
  try {
    const { validFrom, validTo } = await readCredentials(files);
    const findings: Finding[] = [];
    const until = new Date(validTo).toISOString();
    const renew = 'renew it; the service reloads the files by itself';
    if (now >= validTo) findings.push(problem('settings.tls', `the certificate expired on ${until}`, renew));
    else if (now < validFrom)
      findings.push(
        problem('settings.tls', 'the certificate is not valid yet', 'check this machine’s clock'),
      );
    else if (now >= validTo - CERTIFICATE_DAYS_MIN * DAY_MS)
      findings.push(warning('settings.tls', `the certificate expires on ${until}`, renew));
    if (await isKeyExposed(files))
      findings.push(
        problem(
          'settings.tls_key',
          `every user of this machine can read ${files.key}`,
          `chmod 600 ${files.key}`,
        ),
      );
    return findings.length > 0 ? findings : [ok('settings.tls', `the certificate is valid until ${until}`)];
  } catch (error) {
    return [problem('settings.tls', messageOf(error), 'the service does not start without it')];
  }
}

/** Warnings that a start would only log. Other warnings have their own findings. */
function withoutEffect({ warnings }: Config): Finding[] {
  return warnings
    .filter((text) => text.includes('has no effect:'))
    .map((text) => warning('settings.no_effect', text, 'remove it, or correct the setting it depends on'));
}

function webhook({ webhookUrl }: Config): Finding[] {
  if (webhookUrl === undefined) return [];
  const { protocol, hostname } = new URL(webhookUrl);
  if (protocol === 'https:' || hostname === 'localhost' || isLoopback(hostname)) return [];
  const text = 'OPENPIT_WEBHOOK_URL has no TLS: account ids and usage are sent in plain text';
  return [warning('settings.webhook', text, 'use an https:// URL')];
}

function accessLog({ accessLog: path }: Config): Finding[] {
  try {
    requireAccessLog(path);
    return [];
  } catch (error) {
    const fix =
      'create its folder, or let the user of the service write it; the service does not start otherwise';
    return [problem('settings.access_log', messageOf(error), fix)];
  }
}
