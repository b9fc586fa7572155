import { expect, test } from 'vitest';
import { cameTo, draw, isUnanswered, ticks } from '../../src/timeline';
import type { Candidate, Told } from '../../src/types';

const usd = (amount: number) => ({ amount, currency: 'USD' });
const at = (ms: number) => new Date(Date.UTC(2026, 10, 22) + ms).toISOString();

const candidate = (buyer_id: string, rest: Partial<Candidate>): Candidate => ({
  buyer_id,
  seat: 0,
  outcome: 'not_asked',
  asked: false,
  ...rest,
});

function told(rest: Partial<Told>): Told {
  return {
    kind: 'ingest',
    id: 'lead_1',
    lead_id: 'lead_1',
    auction_id: '',
    seller_id: '',
    request_id: 'req_1',
    supplier_id: 'sup',
    campaign_id: 'cmp',
    method: 'ping_post',
    catalog_version: 1,
    received_at: at(0),
    decided_at: at(300),
    bids_due_at: at(2000),
    status: 'ACCEPTED',
    why: '',
    fields: {},
    candidates: [],
    posts: [],
    ...rest,
  };
}

const name = (buyer: string) => buyer.toUpperCase();

const sold = told({
  answer: { at: at(360), status: 201, says: 'ACCEPTED' },
  candidates: [
    candidate('slow', { outcome: 'won', asked: true, elapsed_ms: 290, bid: usd(11.86), payout: usd(9.488) }),
    candidate('mute', { outcome: 'timeout', asked: true }),
    candidate('full', { outcome: 'capped' }),
  ],
  posts: [
    {
      buyer_id: 'slow',
      intended_at: at(302),
      price: usd(11.86),
      payout: usd(9.5),
      tries: [],
      settlements: [{ at: at(358), settlement: 'delivered', status: 201, elapsed_ms: 50.5 }],
    },
  ],
});

test('each buyer has one lane, in which it is asked, and posted to', () => {
  const { lanes } = draw(sold, name);
  expect(lanes.map((l) => [l.buyer, l.outcome, l.tone, l.parts.map((p) => [p.kind, p.from, p.until, p.tone])])).toEqual(
    [
      [
        'slow',
        'won',
        'good',
        [
          ['ask', 0, 290, 'good'],
          ['post', 302, 358, 'good'],
        ],
      ],
      ['mute', 'timeout', 'bad', [['ask', 0, 2000, 'bad']]],
      ['full', 'capped', 'warn', []],
    ],
  );
  expect(lanes[0]?.says).toContain('bid $11.86, payout $9.49');
  expect(lanes[0]?.says.at(-1)).toBe('delivered, HTTP 201, after 50.5 ms');
});

test('the drawing ends with the last of what is drawn', () => {
  const { end, marks } = draw(sold, name);
  expect(end).toBeCloseTo(2040);
  expect(marks.map((m) => m.text)).toEqual(['arrived', 'bids due', 'decided', 'answered']);
});

test('what comes days later does not shrink the milliseconds', () => {
  const later = told({
    bids_due_at: undefined,
    posts: [
      {
        buyer_id: 'slow',
        intended_at: at(302),
        price: usd(1),
        payout: usd(1),
        tries: [{ attempt: 1, ended_at: at(5000), fault: 'timeout' }],
        settlements: [
          { at: at(5300), settlement: 'pending' },
          { at: at(86_400_000), settlement: 'delivered' },
        ],
      },
    ],
  });
  const { end, lanes } = draw(later, name);
  expect(end).toBeLessThanOrEqual(61_200);
  expect(lanes[0]?.parts[0]?.until).toBe(end);
});

test('a post under way has no end yet', () => {
  const open = told({
    posts: [{ buyer_id: 'a', intended_at: at(400), price: usd(1), payout: usd(1), tries: [], settlements: [] }],
  });
  const part = draw(open, name).lanes[0]?.parts[0];
  expect(part?.open).toBe(true);
  expect(part?.until).toBeGreaterThan(400);
});

test('a request without an answer has its limit, and a buyer its name', () => {
  const late = candidate('mute', { outcome: 'timeout', fault: 'timeout', asked: true, elapsed_ms: 2000 });
  expect(draw(told({ candidates: [late] }), name).lanes[0]?.parts[0]?.text).toBe('pinged, no answer within 2,000 ms');
  expect(isUnanswered(late)).toBe(true);
  expect(isUnanswered(candidate('odd', { outcome: 'error', fault: 'closed', asked: true, elapsed_ms: 9 }))).toBe(false);
  expect(
    cameTo({ at: at(0), settlement: 'unknown', fault: 'timeout', elapsed_ms: 5000, next_buyer_id: 'slow' }, name),
  ).toBe('unknown, no answer within 5,000 ms, then to SLOW');
});

test('an axis has some round ticks, whatever its length', () => {
  for (const end of [0.5, 1.02, 7, 42, 361, 2040, 61_200]) {
    const all = ticks(end);
    expect(all[0]).toBe(0);
    expect(all.length).toBeGreaterThanOrEqual(3);
    expect(all.length).toBeLessThanOrEqual(11);
    expect(Math.max(...all)).toBeLessThanOrEqual(end);
  }
});

test('a buyer has a lane for each filter set, and its post is in the lane of the one that got the lead', () => {
  const lanes = draw(
    told({
      ...sold,
      candidates: [
        candidate('slow', { filter_set: 'texas', outcome: 'wrong_state' }),
        candidate('slow', { seat: 1, outcome: 'won', asked: true, elapsed_ms: 290, bid: usd(11.86) }),
      ],
    }),
    name,
  ).lanes;
  expect(lanes.map((l) => [l.set ?? '', l.outcome, l.parts.length])).toEqual([
    ['texas', 'wrong_state', 0],
    ['', 'won', 2],
  ]);
});
