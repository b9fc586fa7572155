/** A token as the exchange gave it. */
export interface Grant {
  access_token: string;
  /** Seconds. */
  expires_in: number;
}

/** Of a token's life, the part after which a new one is fetched. */
const refreshAt = 0.9;

/**
 * Keeps one access token, and sees to it that a good one is there.
 *
 * Calls that need a token while one is fetched share that fetch, and its failure. A
 * failure is kept by nobody: the next call fetches again. A token that was refused is
 * dropped only where it is still the one that is kept, so that of many calls that hear
 * 401 at once the first fetches and the others take what it got.
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
