import { UsageError } from '../error.js';
import { isTime } from './check.js';

/** A bid. What is left out is made: a token that nobody can guess, and five seconds. */
export interface BidOffer {
  /** In units of the currency, at most 1,000,000. The exchange cuts what is past six decimals. */
  amount: number;
  /** ISO 4217. Left out, the campaign's. */
  currency?: string;
  /** What the post shows you again: 1 to 512 visible ASCII characters. */
  bid_token?: string;
  /** Until when you stand by it. */
  valid_until?: Date | string;
  /** Which of your filters the lead has passed. */
  buyer_filters_passed?: readonly string[];
}

class NoBid {
  constructor(
    readonly reason: string,
    readonly detail: string,
  ) {}
}

class Refusal {
  constructor(
    readonly reason: string,
    readonly detail: string,
  ) {}
}

/** What a bid function returns. */
export type BidDecision = BidOffer | NoBid;

/** What a post function returns: your own id of the lead, or a refusal. */
export type PostDecision = string | number | Refusal;

export type { NoBid, Refusal };

/** Says that you do not bid. The reason is for programs, such as `state`; the detail for a person. */
export function noBid(reason: string, detail = 'This buyer does not bid for this lead.'): NoBid {
  return new NoBid(reason, detail);
}

/** Says that you do not take the lead. It then may go to another buyer. */
export function refuse(reason: string, detail = 'This buyer does not take this lead.'): Refusal {
  return new Refusal(reason, detail);
}

/** Turns a bid function's decision into the answer's body. Throws where it is none. */
export function bidBody(auctionId: string, decision: unknown, made: { token: () => string; validUntil: () => Date }): object {
  if (decision instanceof NoBid) {
    return { auction_id: auctionId, bid: null, reject_reason: decision.reason, reject_detail: decision.detail };
  }
  if (typeof decision !== 'object' || decision === null) {
    throw new UsageError('the bid function has to return { amount } or noBid(reason)');
  }
  const { amount, currency, bid_token, valid_until, buyer_filters_passed } = decision as Partial<BidOffer>;
  if (typeof amount !== 'number' || !(amount >= 0.000001 && amount <= 1_000_000)) {
    throw new UsageError('the amount of a bid has to be a number from 0.000001 to 1,000,000');
  }
  if (currency !== undefined && !/^[A-Z]{3}$/.test(currency)) throw new UsageError('the currency of a bid has to be three capital letters');
  if (bid_token !== undefined && !/^[!-~]{1,512}$/.test(bid_token)) {
    throw new UsageError('the bid_token of a bid has to be 1 to 512 visible ASCII characters');
  }
  return {
    auction_id: auctionId,
    bid: {
      amount,
      ...(currency === undefined ? {} : { currency }),
      bid_token: bid_token ?? made.token(),
      valid_until: timeOf(valid_until ?? made.validUntil()),
    },
    ...(buyer_filters_passed === undefined ? {} : { buyer_filters_passed }),
  };
}

function timeOf(time: Date | string): string {
  if (typeof time !== 'string') return time.toISOString();
  if (!isTime(time)) throw new UsageError('the valid_until of a bid has to be a Date, or a time as RFC 3339 has it');
  return time;
}

/** A post function's decision, judged. Throws where it is none. */
export function postOutcome(decision: unknown): { lead: string } | { refused: Refusal } {
  if (decision instanceof Refusal) return { refused: decision };
  const id = typeof decision === 'number' && Number.isFinite(decision) ? String(decision) : decision;
  if (typeof id !== 'string' || id === '' || id.length > 128) {
    throw new UsageError('the post function has to return your id of the lead, of at most 128 characters, or refuse(reason)');
  }
  return { lead: id };
}
