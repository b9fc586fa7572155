import { createHash, timingSafeEqual } from 'node:crypto';
import { UsageError } from '../error.js';

/** What the exchange shows. Several are all good, as during a rotation. */
export interface BuyerCredential {
  /** Shown as `Authorization: Bearer`. */
  bearer?: string | readonly string[];
  /** Shown as `x-api-key`. */
  apiKey?: string | readonly string[];
}

/** Says whether a request shows a credential that is good. Time does not tell which one is nearly so. */
export class Gatekeeper {
  readonly #bearer: readonly Buffer[];
  readonly #apiKey: readonly Buffer[];

  constructor(credential: BuyerCredential | undefined) {
    this.#bearer = digests('bearer', credential?.bearer);
    this.#apiKey = digests('apiKey', credential?.apiKey);
    if (credential !== undefined && this.#bearer.length + this.#apiKey.length === 0) {
      throw new UsageError('a credential has a bearer or an apiKey; leave it out and anybody may sell to you');
    }
  }

  admits(header: (name: string) => string | undefined): boolean {
    if (this.#bearer.length + this.#apiKey.length === 0) return true;
    const token = /^Bearer +([!-~]+)$/i.exec(header('authorization') ?? '')?.[1];
    const known = [fits(this.#bearer, token), fits(this.#apiKey, header('x-api-key'))];
    return known.includes(true);
  }

  /** What WWW-Authenticate asks for, if anything. */
  get challenge(): string | undefined {
    return this.#bearer.length > 0 ? 'Bearer' : undefined;
  }
}

function fits(good: readonly Buffer[], shown: string | undefined): boolean {
  if (shown === undefined) return false;
  const digest = sha256(shown);
  return good.map((one) => timingSafeEqual(one, digest)).includes(true);
}

function digests(name: string, secrets: string | readonly string[] | undefined): readonly Buffer[] {
  return [secrets ?? []].flat().map((secret) => {
    if (!/^[!-~]+$/.test(secret)) throw new UsageError(`${name} has to be visible ASCII characters, and not empty`);
    return sha256(secret);
  });
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
