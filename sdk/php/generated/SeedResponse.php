<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * Generated leads. `campaign_id` and `results` are present if the request has a campaign.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class SeedResponse extends Message
{
    protected const MEMBERS = [
        'count' => ['count', 'int', true, false],
        'vertical' => ['vertical', 'string', true, false],
        'state' => ['state', 'string', true, false],
        'seed' => ['seed', 'int', true, false],
        'leads' => ['leads', [SeededLead::class], true, false],
        'campaign_id' => ['campaignId', 'string', false, false],
        'results' => ['results', [SeedResult::class], false, false],
    ];

    /**
     * @param int $count The number of leads.
     * @param string $vertical A name of 1 to 255 printable characters that is not blank.
     * @param StateCode::*|string $state
     * @param int $seed The seed of the leads.
     * @param list<SeededLead> $leads The leads, in a fixed order.
     * @param string|null $campaignId The campaign that processed the leads.
     * @param list<SeedResult>|null $results The outcome of each lead in `leads`, in the same order.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly int $count,
        public readonly string $vertical,
        public readonly string $state,
        public readonly int $seed,
        public readonly array $leads,
        public readonly ?string $campaignId = null,
        public readonly ?array $results = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
