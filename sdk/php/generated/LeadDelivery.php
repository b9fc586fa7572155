<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A lead that a buyer bought.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class LeadDelivery extends Message
{
    protected const MEMBERS = [
        'auction_id' => ['auctionId', 'string', true, false],
        'bid_token' => ['bidToken', 'string', false, false],
        'lead' => ['lead', PostLead::class, true, false],
    ];

    /**
     * @param string $auctionId The auction's id, or the lead's id without an auction.
     * @param PostLead $lead
     * @param string|null $bidToken The token of your bid; absent without a bid.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $auctionId,
        public readonly PostLead $lead,
        public readonly ?string $bidToken = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
