<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * Leads that were made up. `campaign_id` and `results` are there where a campaign was named.
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
     * @param int $count How many there are.
     * @param string $vertical A name of 1 to 255 printable characters that is not blank.
     * @param StateCode::*|string $state
     * @param int $seed The seed that they were made from.
     * @param list<SeededLead> $leads The leads, in an order that is always the same.
     * @param string|null $campaignId The campaign that they were sent through.
     * @param list<SeedResult>|null $results What became of each of `leads` there, in their order.
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
