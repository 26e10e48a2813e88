export function openApiDocument(version: string): Record<string, unknown> {
  return { openapi: '3.1.0', info: { title: 'Openpit', version } };
}
