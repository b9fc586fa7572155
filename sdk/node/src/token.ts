/** A token as the exchange gave it. */
export interface Grant {
  access_token: string;
  /** Seconds. */
  expires_in: number;
}

/** Of a token's life, the part after which a new one is fetched. */
const refreshAt = 0.9;

/**
 * Holds one access token and renews it.
 *
 * Concurrent calls share one fetch, and its failure. A failure is not cached: the next call
 * fetches again. A rejected token is dropped only if it is still the current one. So if many
 * calls get a 401 at the same time, the first one fetches and the others use its token.
 */
export class TokenKeeper {
  readonly #fetch: () => Promise<Grant>;
  readonly #now: () => number;
  #kept: { token: string; until: number } | undefined;
  #flight: Promise<string> | undefined;

  constructor(fetch: () => Promise<Grant>, now: () => number) {
    this.#fetch = fetch;
    this.#now = now;
  }

  async get(): Promise<string> {
    if (this.#kept !== undefined && this.#now() < this.#kept.until) return this.#kept.token;
    this.#flight ??= this.#renew().finally(() => {
      this.#flight = undefined;
    });
    return this.#flight;
  }

  drop(token: string): void {
    if (this.#kept?.token === token) this.#kept = undefined;
  }

  async #renew(): Promise<string> {
    const asked = this.#now();
    const grant = await this.#fetch();
    this.#kept = { token: grant.access_token, until: asked + grant.expires_in * 1000 * refreshAt };
    return grant.access_token;
  }
}
