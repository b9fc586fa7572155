<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * The answer to a ping. `bid` is an object, or null with `reject_reason` and `reject_detail`.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class BidResponse extends Message
{
    protected const MEMBERS = [
        'auction_id' => ['auctionId', 'string', true, false],
        'bid' => ['bid', Bid::class, true, true],
        'buyer_filters_passed' => ['buyerFiltersPassed', ['string'], false, false],
        'reject_reason' => ['rejectReason', 'string', false, false],
        'reject_detail' => ['rejectDetail', 'string', false, false],
    ];

    /**
     * @param string $auctionId The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
     * @param Bid|null $bid
     * @param list<string>|null $buyerFiltersPassed With a bid: the conditions of the buyer and the campaign that the lead meets. `vertical` is always present. `state`, `tcpa` (consent) and `score_threshold` are present if a list of states or a filter requires them.
     * @param NoBidReason::*|string|null $rejectReason
     * @param string|null $rejectDetail The reason as text for people.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $auctionId,
        public readonly ?Bid $bid,
        public readonly ?array $buyerFiltersPassed = null,
        public readonly ?string $rejectReason = null,
        public readonly ?string $rejectDetail = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
