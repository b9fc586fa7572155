<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A lead as its seller or its buyer sees it, without contact data.
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
     * @param string $campaignId The lead's campaign.
     * @param string|null $auctionId The auction's id as the caller knows it; null without an auction.
     * @param string|null $buyerId The buyer that has the lead, or that it is being sent to; null if there is no buyer.
     * @param Price|null $price
     * @param UnmatchedReason::*|string|null $reason
     * @param DeliveryState::*|string $delivery
     * @param string $createdAt When the lead was decided.
     * @param string|null $leadUuid The seller's id from the post. Null for buyers, and if there is no such id.
     * @param ReturnState::*|string|null $return
     * @param bool|null $test True for a test lead; else absent.
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
