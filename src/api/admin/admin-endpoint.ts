import type { AdminEndpoint } from '../model/endpoint.ts';

/** An endpoint for operators. All of them share one name in the metrics. */
export function adminEndpoint(path: string, actions: AdminEndpoint['actions']): AdminEndpoint {
  return { kind: 'admin', name: 'admin', path, actions };
}
