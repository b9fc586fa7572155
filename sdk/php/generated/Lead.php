<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A lead as one of those may see it whom it concerns. It does not tell who the person is.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class Lead extends Message
{
    protected const MEMBERS = [
        'id' => ['id', 'string', true, false],
        'status' => ['status', 'string', true, false],
        'campaign_id' => ['campaignId', 'string', true, false],
        'lead_uuid' => ['leadUuid', 'string', false, true],
        'auction_id' => ['auctionId', 'string', true, true],
        'buyer_id' => ['buyerId', 'string', true, true],
        'price' => ['price', Price::class, true, true],
        'reason' => ['reason', 'string', true, true],
        'delivery' => ['delivery', 'string', true, false],
        'return' => ['return', 'string', false, false],
        'created_at' => ['createdAt', 'string', true, false],
        'test' => ['test', 'bool', false, false],
    ];

    /**
     * @param string $id The exchange's id of a lead.
     * @param LeadStatus::*|string $status
     * @param string $campaignId The campaign that it was sent for.
     * @param string|null $auctionId The auction it was in, by the name that you know it by; null where there was none.
     * @param string|null $buyerId The buyer that has it, or is being sent it; null where nobody has it.
     * @param Price|null $price
     * @param UnmatchedReason::*|string|null $reason
     * @param DeliveryState::*|string $delivery
     * @param string $createdAt When the lead was decided.
     * @param string|null $leadUuid The seller's own id, which a post names. Buyers are not shown it; null where there is none.
     * @param ReturnState::*|string|null $return
     * @param bool|null $test It is there and true where this is a test lead.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $id,
        public readonly string $status,
        public readonly string $campaignId,
        public readonly ?string $auctionId,
        public readonly ?string $buyerId,
        public readonly ?Price $price,
        public readonly ?string $reason,
        public readonly string $delivery,
        public readonly string $createdAt,
        public readonly ?string $leadUuid = null,
        public readonly ?string $return = null,
        public readonly ?bool $test = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
