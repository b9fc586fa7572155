<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A buyer's answer to a ping. `bid` is an object, or null with a `reject_reason`.
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
     * @param list<string>|null $buyerFiltersPassed The conditions that the lead meets, such as `state`, `vertical`, `tcpa` and `score_threshold`.
     * @param string|null $rejectReason With a no-bid, the cause as a code.
     * @param string|null $rejectDetail With a no-bid, the cause as text for people.
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
