<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * The offers for a lead.
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
     * @param string $pingId The id of this ping. An ingest refers to it to accept an offer.
     * @param string $campaignId The requested campaign.
     * @param bool $accepted Whether there is an offer.
     * @param string $expiresAt The latest expiration of the offers.
     * @param list<Offer> $buyers The offers, best first; empty if there are no offers.
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
