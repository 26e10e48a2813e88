import { stat } from 'node:fs/promises';
import { ConfigError, type TlsFiles } from '../../config/values.ts';
import { type Credentials, CredentialsError, parseCredentials } from '../../http/tls/credentials.ts';
import { codeOf } from '../../runtime/log/log.ts';

const SETTINGS = { cert: 'OPENPIT_TLS_CERT', key: 'OPENPIT_TLS_KEY' } as const;

/** Reads the certificate and the key. The message of an error names the setting and the file. */
export async function readCredentials(files: TlsFiles): Promise<Credentials> {
  const cert = await readText(files, 'cert');
  const key = await readText(files, 'key');
  try {
    return parseCredentials(cert, key);
  } catch (error) {
    if (error instanceof CredentialsError) throw unusable(files, error.part, error.message);
    throw error;
  }
}

/** Whether every user of this machine can read the private key. */
export async function isKeyExposed(files: TlsFiles): Promise<boolean> {
  const { mode } = await stat(files.key);
  return (mode & 0o004) !== 0;
}

async function readText(files: TlsFiles, part: keyof TlsFiles): Promise<string> {
  try {
    return await Bun.file(files[part]).text();
  } catch (error) {
    const code = codeOf(error);
    throw unusable(files, part, REASONS[code] ?? `it cannot be read (${code || String(error)})`);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user has no permission to read it',
  EISDIR: 'it is a folder',
};

function unusable(files: TlsFiles, part: keyof TlsFiles, why: string): ConfigError {
  return new ConfigError(`${SETTINGS[part]} (${files[part]}) cannot be used: ${why}.`);
}
