<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * Who would buy a lead.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class Availability extends Message
{
    protected const MEMBERS = [
        'ping_id' => ['pingId', 'string', true, false],
        'campaign_id' => ['campaignId', 'string', true, false],
        'accepted' => ['accepted', 'bool', true, false],
        'expires_at' => ['expiresAt', 'string', true, false],
        'buyers' => ['buyers', [Offer::class], true, false],
        'reason' => ['reason', 'string', false, false],
    ];

    /**
     * @param string $pingId Names this ping; an ingest takes one of its offers up by it.
     * @param string $campaignId The campaign that was asked for.
     * @param bool $accepted Whether anybody would buy it.
     * @param string $expiresAt When the last of the offers ends at the latest.
     * @param list<Offer> $buyers The offers, the best first; none where nobody wants it.
     * @param NoBidReason::*|string|null $reason
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $pingId,
        public readonly string $campaignId,
        public readonly bool $accepted,
        public readonly string $expiresAt,
        public readonly array $buyers,
        public readonly ?string $reason = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
