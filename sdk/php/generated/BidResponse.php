<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * The answer to a ping. Either `bid` is an object, or it is null, and then `reject_reason` and `reject_detail` are there.
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
     * @param string $auctionId The asker's name for an auction, of 1 to 255 printable characters. It names one auction and no other.
     * @param Bid|null $bid
     * @param list<string>|null $buyerFiltersPassed With a bid: what the buyer behind it, or the campaign, asks of a lead, and this one has. `vertical` is always among them; `state`, `tcpa` (consent) and `score_threshold` where a list of states or a filter asks for it.
     * @param NoBidReason::*|string|null $rejectReason
     * @param string|null $rejectDetail The same in words, for a person.
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
