<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * The lead it happened to. It does not tell who the person is.
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
     * @param string|null $leadUuid Your own id, which your post named; null after an ingest.
     * @param string|null $auctionId The auction it was in, by the name that you know it by; null where there was none.
     * @param string|null $campaignId The campaign that it was sent for.
     * @param string|null $supplierId The supplier that sent it.
     * @param string|null $buyerId The buyer that has it or had it; null where nobody did.
     * @param LeadStatus::*|string $status
     * @param Price|null $price
     * @param string|null $reason Why: a reason for which a lead is not sold, or the buyer's word with its report; null where there is none.
     * @param Price|null $reversed
     * @param bool|null $test It is there and true where this is a test lead.
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
