<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * The cause of an unsold lead. `suppressed` and `duplicate` end the processing at once. The others are the furthest stage that any buyer reached, in this order: `no_buyer` (the campaign has no buyer), `no_state_match`, `filtered`, `outside_schedule`, `caps_full`, `insufficient_funds`, `rate_limited` (all buyers' ping limits are reached), `timeout` (no answer in time), `no_bid`, `below_floor`, `bid_expired`, `post_rejected` (the buyer rejected the lead).
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class UnmatchedReason
{
    public const NO_BUYER = 'no_buyer';
    public const NO_STATE_MATCH = 'no_state_match';
    public const FILTERED = 'filtered';
    public const OUTSIDE_SCHEDULE = 'outside_schedule';
    public const CAPS_FULL = 'caps_full';
    public const INSUFFICIENT_FUNDS = 'insufficient_funds';
    public const RATE_LIMITED = 'rate_limited';
    public const TIMEOUT = 'timeout';
    public const NO_BID = 'no_bid';
    public const BELOW_FLOOR = 'below_floor';
    public const BID_EXPIRED = 'bid_expired';
    public const POST_REJECTED = 'post_rejected';
    public const SUPPRESSED = 'suppressed';
    public const DUPLICATE = 'duplicate';

    /** All that were known when this was made. An exchange may send others. */
    public const KNOWN = [self::NO_BUYER, self::NO_STATE_MATCH, self::FILTERED, self::OUTSIDE_SCHEDULE, self::CAPS_FULL, self::INSUFFICIENT_FUNDS, self::RATE_LIMITED, self::TIMEOUT, self::NO_BID, self::BELOW_FLOOR, self::BID_EXPIRED, self::POST_REJECTED, self::SUPPRESSED, self::DUPLICATE];
}
