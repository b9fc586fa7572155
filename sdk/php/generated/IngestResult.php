<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * The outcome of a lead.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class IngestResult extends Message
{
    protected const MEMBERS = [
        'id' => ['id', 'string', true, false],
        'status' => ['status', 'string', true, false],
        'buyer_id' => ['buyerId', 'string', true, true],
        'campaign_id' => ['campaignId', 'string', true, false],
        'price' => ['price', Price::class, false, false],
        'reason' => ['reason', 'string', false, false],
    ];

    /**
     * @param string $id The exchange's id of a lead.
     * @param IngestStatus::*|string $status
     * @param string|null $buyerId The buyer; null if unsold.
     * @param string $campaignId The lead's campaign.
     * @param Price|null $price
     * @param UnmatchedReason::*|string|null $reason
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $id,
        public readonly string $status,
        public readonly ?string $buyerId,
        public readonly string $campaignId,
        public readonly ?Price $price = null,
        public readonly ?string $reason = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
