<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A sale.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class PostResponse extends Message
{
    protected const MEMBERS = [
        'auction_id' => ['auctionId', 'string', true, false],
        'lead_id' => ['leadId', 'string', true, true],
        'id' => ['id', 'string', true, false],
        'status' => ['status', 'string', true, false],
        'buyer_id' => ['buyerId', 'string', true, false],
        'price' => ['price', Price::class, true, false],
    ];

    /**
     * @param string $auctionId The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
     * @param string|null $leadId The buyer's id of the lead; null if the buyer sent no id.
     * @param string $id The exchange's id of a lead.
     * @param PostStatus::*|string $status
     * @param string $buyerId The buyer of the lead.
     * @param Price $price
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $auctionId,
        public readonly ?string $leadId,
        public readonly string $id,
        public readonly string $status,
        public readonly string $buyerId,
        public readonly Price $price,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
