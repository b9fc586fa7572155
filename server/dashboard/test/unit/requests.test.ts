import { expect, test } from 'vitest';
import { requestsOf } from '../../src/requests';
import type { Settlement, Told } from '../../src/types';

const at = (ms: number) => new Date(Date.UTC(2026, 10, 22) + ms).toISOString();
const usd = { amount: 5, currency: 'USD' };

const told = (tries: Told['posts'][0]['tries'], ...settlements: Settlement[]): Told =>
  ({
    received_at: at(0),
    candidates: [
      { buyer_id: 'a', seat: 0, outcome: 'won', asked: true, elapsed_ms: 40, status: 200, bid: usd },
      { buyer_id: 'b', seat: 1, outcome: 'timeout', asked: true, elapsed_ms: 2000, fault: 'timeout' },
      { buyer_id: 'c', seat: 2, outcome: 'wrong_state', asked: false },
    ],
    posts: [{ buyer_id: 'a', intended_at: at(2000), price: usd, payout: usd, tries, settlements }],
  }) as unknown as Told;

const name = (buyer: string) => buyer.toUpperCase();

test('each request has the time at which it was sent, and its duration once', () => {
  const sold: Settlement = { at: at(2340), settlement: 'delivered', status: 201, elapsed_ms: 336 };
  expect(requestsOf(told([], sold), name)).toEqual([
    { at: at(0), to: 'a', kind: 'ping', elapsed: 40, answer: 'HTTP 200, bid $5.00' },
    { at: at(0), to: 'b', kind: 'ping', elapsed: undefined, answer: 'no answer within 2,000 ms' },
    { at: at(2004), to: 'a', kind: 'post', elapsed: 336, answer: 'delivered, HTTP 201' },
  ]);
});

test('an attempt whose sending the log does not have shows when it ended', () => {
  const tries = [1, 2].map((attempt) => ({ attempt, ended_at: at(2000 + attempt * 100), status: 503 }));
  const lost: Settlement = { at: at(9000), settlement: 'unknown', fault: 'timeout', elapsed_ms: 5000 };
  expect(requestsOf(told(tries, lost), name).slice(2)).toEqual([
    { at: at(2000), to: 'a', kind: 'post, attempt 1', elapsed: 100, answer: 'HTTP 503' },
    { recorded: at(2200), to: 'a', kind: 'post, attempt 2', answer: 'HTTP 503' },
    {
      at: at(4000),
      to: 'a',
      kind: 'post',
      elapsed: undefined,
      answer: expect.stringMatching(/no answer within 5,000 ms$/),
    },
  ]);
});
