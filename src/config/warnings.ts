import { nearestCodes } from '../market/search/similar-codes.ts';
import { SETTINGS } from './settings.ts';

/** Shorter admin tokens can be guessed. */
export const ADMIN_TOKEN_CHARACTERS_MIN = 16;

/** Variables of the client commands, which may be set where a service is started. */
const OF_CLIENTS = ['OPENPIT_KEY'];

/** An environment variable that has no effect, and the setting that was probably meant. */
export interface UnknownSetting {
  readonly name: string;
  readonly meant: string | undefined;
}

/** Variables with our prefix that are not settings: probably typos, but other programs may use such names too. */
export function unknownSettingsIn(env: Record<string, string | undefined>): UnknownSetting[] {
  const withoutPrefix = (name: string) => name.slice('OPENPIT_'.length);
  const known = SETTINGS.map((setting) => withoutPrefix(setting.env));
  return Object.keys(env)
    .filter((name) => name.startsWith('OPENPIT_') && !OF_CLIENTS.includes(name))
    .filter((name) => !known.includes(withoutPrefix(name)))
    .map((name) => {
      const [nearest] = nearestCodes(withoutPrefix(name).toUpperCase(), known, 1);
      return { name, meant: nearest && `OPENPIT_${nearest}` };
    });
}

export function unknownSettingText({ name, meant }: UnknownSetting): string {
  return `${name} is not a setting and has no effect${meant ? `; did you mean ${meant}?` : ''}`;
}

/** Oddities that do not prevent a start. */
export function settingWarnings(settings: {
  unknown: readonly UnknownSetting[];
  adminToken: string;
  /** Whether a standby is set without a PostgreSQL that it could be a standby of. */
  isReadUrlUnused: boolean;
}): string[] {
  const warnings = settings.unknown.map(unknownSettingText);
  const { adminToken } = settings;
  if (adminToken !== '' && adminToken.length < ADMIN_TOKEN_CHARACTERS_MIN)
    warnings.push(
      `OPENPIT_ADMIN_TOKEN has fewer than ${ADMIN_TOKEN_CHARACTERS_MIN} characters: choose a longer one`,
    );
  if (settings.isReadUrlUnused)
    warnings.push('OPENPIT_READ_URL has no effect: OPENPIT_DATABASE_URL is not PostgreSQL');
  return warnings;
}
