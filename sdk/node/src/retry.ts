/** Seconds between the tries of a call. */
export const backoff = [1, 2, 4, 8, 16] as const;

/** Seconds that a Retry-After is waited for at most: a timer of over 24 days would end at once. */
const longestAsked = 3600;

/** Waits, and gives up waiting where the signal says so. */
export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** Whether an answer is worth another try: 5xx and 429 alone. */
export function retryable(status: number): boolean {
  return status === 429 || status >= 500;
}

/** Milliseconds before a retry, the first being 0: what the server says, else the backoff and up to a tenth. */
export function waitBefore(retry: number, retryAfter: number | undefined): number {
  if (retryAfter !== undefined) return Math.min(retryAfter, longestAsked) * 1000;
  const seconds = backoff[Math.min(retry, backoff.length - 1)] ?? 16;
  return seconds * 1000 * (1 + Math.random() / 10);
}

/** Seconds that a Retry-After asks for, as a number or as an HTTP date; none where it is neither. */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{2}:\d{2}:\d{2}.*$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000));
}

export const sleep: Sleep = (milliseconds, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });
