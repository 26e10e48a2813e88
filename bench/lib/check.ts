/** Throws unless an answer has its status and says what such an answer says. */
export function expectOk(name: string, expected: number, status: number, body: string): void {
  if (status !== expected)
    throw new Error(`${name}: ${status} instead of ${expected}: ${body.slice(0, 200)}`);
  if (status === 304) return;
  const parsed = JSON.parse(body) as Record<string, unknown>;
  if (parsed.success !== status < 400) throw new Error(`${name}: success is ${parsed.success}`);
  const numbers = body.match(/:-?\d+(\.\d+)?[,}]/g) ?? [];
  if (status < 400 && numbers.length === 0 && !Array.isArray(parsed.symbols))
    throw new Error(`${name}: no number in ${body.slice(0, 200)}`);
}
