/** An answer to a post that stands, as it was first given. It is plain JSON. */
export interface StoredAnswer {
  /** SHA-256 of the body that was answered, in hex. */
  fingerprint: string;
  status: number;
  requestId: string;
  body: string;
}

/**
 * Stores answers to posts by Idempotency-Key. Keep an answer for a day or longer.
 *
 * Within one Buyer, a repeat waits while the first post is in progress. If several processes
 * serve one endpoint, give them one store, and make the post function idempotent for each
 * `idempotencyKey`: two processes may call it at the same time.
 */
export interface AnswerStore {
  get(key: string): Promise<StoredAnswer | undefined> | StoredAnswer | undefined;
  put(key: string, answer: StoredAnswer): Promise<void> | void;
}

const day = 24 * 60 * 60 * 1000;

/** Remembers in memory: for 24 hours, and the latest 100,000. */
export class MemoryStore implements AnswerStore {
  readonly #capacity: number;
  readonly #now: () => number;
  // In insertion order: the first is the oldest.
  readonly #answers = new Map<string, { answer: StoredAnswer; until: number }>();

  constructor(options: { capacity?: number; now?: () => number } = {}) {
    this.#capacity = options.capacity ?? 100_000;
    this.#now = options.now ?? Date.now;
  }

  get(key: string): StoredAnswer | undefined {
    const kept = this.#answers.get(key);
    return kept !== undefined && this.#now() < kept.until ? kept.answer : undefined;
  }

  put(key: string, answer: StoredAnswer): void {
    this.#answers.delete(key);
    this.#answers.set(key, { answer, until: this.#now() + day });
    for (const [oldest, { until }] of this.#answers) {
      if (this.#answers.size <= this.#capacity && this.#now() < until) break;
      this.#answers.delete(oldest);
    }
  }
}
