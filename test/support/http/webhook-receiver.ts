export interface WebhookPost {
  /** The same when an event is posted again. */
  id: string;
  type: string;
  body: Record<string, unknown>;
}

/** Receives the posts to an operator's webhook. */
export class WebhookReceiver {
  readonly posts: WebhookPost[] = [];
  readonly #server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const body = (await request.json()) as Record<string, unknown>;
      this.posts.push({ id: request.headers.get('webhook-id') ?? '', type: String(body.type), body });
      return new Response();
    },
  });

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** The types of the events. */
  types(): string[] {
    return this.posts.map(({ type }) => type);
  }

  stop(): Promise<void> {
    return this.#server.stop(true);
  }
}
