import { hostname } from 'node:os';
import type { Gauge } from '../../api/telemetry/metrics.ts';
import type { TlsFiles } from '../../config/values.ts';
import type { Credentials } from '../../http/tls/credentials.ts';
import type { Clock } from '../../runtime/clock.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { type Log, messageOf } from '../../runtime/log/log.ts';
import type { ActiveAlarm } from '../alarms.ts';
import { isKeyExposed, readCredentials } from './certificate-files.ts';

/** Renewal is due 30 days before expiry at the latest, so at 14 days it has failed and there is time to act. */
const EXPIRES_SOON_MS = 14 * DAY_MS;

/** A renewal writes two files. A check between the two writes finds a mismatched pair, which is not a failure yet. */
const FAILED_CHECKS_UNTIL_ALARM = 2;

/** Knows the certificate in use, replaces it when its files have changed, and reports what is wrong with it. */
export class CertificateMonitor {
  readonly #files: TlsFiles;
  readonly #clock: Clock;
  readonly #log: Log;
  #credentials: Credentials;
  #failure: { since: number; reason: string; checks: number } | undefined;
  /** Called with renewed credentials. If it throws, the earlier ones stay in use. */
  onRenewed: (credentials: Credentials) => void = () => {};

  private constructor(files: TlsFiles, clock: Clock, log: Log, credentials: Credentials) {
    this.#files = files;
    this.#clock = clock;
    this.#log = log;
    this.#credentials = credentials;
  }

  /** Fails when the files cannot be used. */
  static async open(files: TlsFiles, clock: Clock, log: Log): Promise<CertificateMonitor> {
    const monitor = new CertificateMonitor(files, clock, log, await readCredentials(files));
    await monitor.#warnOfExposedKey();
    return monitor;
  }

  get credentials(): Credentials {
    return this.#credentials;
  }

  /** Starts to use a renewed certificate. Call it every few seconds, and not concurrently. */
  async check(): Promise<void> {
    try {
      const found = await readCredentials(this.#files);
      if (!isSame(found, this.#credentials)) await this.#renew(found);
      this.#failure = undefined;
    } catch (error) {
      const { since, checks } = this.#failure ?? { since: this.#clock.now(), checks: 0 };
      this.#failure = { since, reason: messageOf(error), checks: checks + 1 };
    }
  }

  alarms(): ActiveAlarm[] {
    return [...this.#renewalAlarm(), ...this.#validityAlarm()];
  }

  gauges(): Gauge[] {
    return [
      {
        name: 'openpit_tls_certificate_expiry_timestamp_seconds',
        help: 'When the certificate in use expires.',
        value: () => this.#credentials.validTo / 1_000,
      },
    ];
  }

  async #renew(credentials: Credentials): Promise<void> {
    this.onRenewed(credentials);
    this.#credentials = credentials;
    this.#log.info('TLS certificate renewed', { expiresAt: isoOf(credentials.validTo) });
    await this.#warnOfExposedKey();
  }

  async #warnOfExposedKey(): Promise<void> {
    if (!(await isKeyExposed(this.#files))) return;
    const message = `every user of this machine can read the private key; run: chmod 600 ${this.#files.key}`;
    this.#log.warn('settings', { message });
  }

  #renewalAlarm(): ActiveAlarm[] {
    const failure = this.#failure;
    if (!failure || failure.checks < FAILED_CHECKS_UNTIL_ALARM) return [];
    const { since, reason } = failure;
    const type = 'tls.renewal_failed';
    const subject = { machine: hostname() };
    return [{ name: type, subject, since, event: { type, ...subject, since: isoOf(since), reason } }];
  }

  #validityAlarm(): ActiveAlarm[] {
    const { validFrom, validTo } = this.#credentials;
    const type = validityProblem(this.#credentials, this.#clock.now());
    if (type === undefined) return [];
    const event = {
      type,
      validFrom: isoOf(validFrom),
      expiresAt: isoOf(validTo),
      certificate: this.#files.cert,
    };
    return [{ name: type, subject: { expiresAt: event.expiresAt }, event }];
  }
}

function validityProblem({ validFrom, validTo }: Credentials, now: number): string | undefined {
  if (now < validFrom) return 'tls.not_yet_valid';
  if (now >= validTo) return 'tls.expired';
  return now >= validTo - EXPIRES_SOON_MS ? 'tls.expires_soon' : undefined;
}

function isSame(a: Credentials, b: Credentials): boolean {
  return a.cert === b.cert && a.key === b.key;
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
