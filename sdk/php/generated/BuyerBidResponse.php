<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A buyer's answer to a ping. Either `bid` is an object, or it is null, and then `reject_reason` says why.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class BuyerBidResponse extends Message
{
    protected const MEMBERS = [
        'auction_id' => ['auctionId', 'string', false, false],
        'bid' => ['bid', BuyerBid::class, true, true],
        'buyer_filters_passed' => ['buyerFiltersPassed', ['string'], false, false],
        'reject_reason' => ['rejectReason', 'string', false, false],
        'reject_detail' => ['rejectDetail', 'string', false, false],
    ];

    /**
     * @param BuyerBid|null $bid
     * @param string|null $auctionId The `auction_id` of the ping. Required with a bid.
     * @param list<string>|null $buyerFiltersPassed Which of your filters the lead has passed, such as `state`, `vertical`, `tcpa` and `score_threshold`.
     * @param string|null $rejectReason With no bid, why, as a code for programs.
     * @param string|null $rejectDetail With no bid, why, in words for a person.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly ?BuyerBid $bid,
        public readonly ?string $auctionId = null,
        public readonly ?array $buyerFiltersPassed = null,
        public readonly ?string $rejectReason = null,
        public readonly ?string $rejectDetail = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
