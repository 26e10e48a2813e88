/** Bodies up to this size are sent as they are: compressing them saves nothing on the wire. */
export const COMPRESS_FROM_BYTES = 1024;

/** Whether `Accept-Encoding` allows gzip. */
export function acceptsGzip(header: string | null): boolean {
  if (!header) return false;
  let any = false;
  for (const part of header.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    const wanted = quality === undefined || Number(quality.slice(2)) > 0;
    if (name === 'gzip' || name === 'x-gzip') return wanted;
    if (name === '*') any = wanted;
  }
  return any;
}
