/** A libpq parameter that is implied here: writes always go to the primary. */
const IMPLIED_PARAMETER = 'target_session_attrs';

/**
 * Splits a URL with several hosts (`postgres://user:pw@one:5432,two:5433/db`, as libpq writes it) into one URL per host.
 * A host without a port has the default port.
 */
export function hostUrls(url: string): string[] {
  const parts = /^(postgres(?:ql)?:\/\/)([^/?#]*)(.*)$/s.exec(url);
  if (!parts) throw new Error('a database URL must begin with postgres://');
  const [, scheme, authority, rest] = parts as unknown as [string, string, string, string];
  const userEnd = authority.lastIndexOf('@') + 1;
  const user = authority.slice(0, userEnd);
  return authority
    .slice(userEnd)
    .split(',')
    .map((host) => urlOfHost(host.trim(), (trimmed) => `${scheme}${user}${trimmed}${rest}`));
}

/** The host and port of a URL, for messages, without user and password. */
export function hostOf(url: string): string {
  return new URL(url).host;
}

function urlOfHost(host: string, complete: (host: string) => string): string {
  if (host === '' || host.startsWith(':')) {
    throw new Error('the database URL lacks a host: write postgres://USER:PASSWORD@HOST:5432/DATABASE');
  }
  const url = complete(host);
  if (!URL.canParse(url)) {
    throw new Error(`the database URL has a host that cannot be used: "${host}"`); // never the password
  }
  const parsed = new URL(url);
  if (!parsed.searchParams.has(IMPLIED_PARAMETER)) return url;
  parsed.searchParams.delete(IMPLIED_PARAMETER);
  return parsed.href;
}
