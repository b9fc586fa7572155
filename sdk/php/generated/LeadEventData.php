<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * The lead of the event, without contact data.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class LeadEventData extends Message
{
    protected const MEMBERS = [
        'lead_id' => ['leadId', 'string', true, false],
        'lead_uuid' => ['leadUuid', 'string', true, true],
        'auction_id' => ['auctionId', 'string', true, true],
        'campaign_id' => ['campaignId', 'string', true, true],
        'supplier_id' => ['supplierId', 'string', true, true],
        'buyer_id' => ['buyerId', 'string', true, true],
        'status' => ['status', 'string', true, false],
        'price' => ['price', Price::class, true, true],
        'reason' => ['reason', 'string', true, true],
        'reversed' => ['reversed', Price::class, false, true],
        'test' => ['test', 'bool', false, false],
    ];

    /**
     * @param string $leadId The exchange's id of a lead.
     * @param string|null $leadUuid Your id from the post; null after an ingest.
     * @param string|null $auctionId The auction's id as the caller knows it; null without an auction.
     * @param string|null $campaignId The lead's campaign.
     * @param string|null $supplierId The lead's supplier.
     * @param string|null $buyerId The current or former buyer; null if there was no buyer.
     * @param LeadStatus::*|string $status
     * @param Price|null $price
     * @param string|null $reason The cause: an unsold reason, or the reason in the buyer's report; else null.
     * @param Price|null $reversed
     * @param bool|null $test True for a test lead; else absent.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $leadId,
        public readonly ?string $leadUuid,
        public readonly ?string $auctionId,
        public readonly ?string $campaignId,
        public readonly ?string $supplierId,
        public readonly ?string $buyerId,
        public readonly string $status,
        public readonly ?Price $price,
        public readonly ?string $reason,
        public readonly ?Price $reversed = null,
        public readonly ?bool $test = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
