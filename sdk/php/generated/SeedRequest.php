<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * The parameters of the generated leads.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class SeedRequest extends Message
{
    protected const MEMBERS = [
        'count' => ['count', 'int', true, false],
        'vertical' => ['vertical', 'string', true, false],
        'state' => ['state', 'string', true, false],
        'seed' => ['seed', 'int', false, false],
        'campaign_id' => ['campaignId', 'string', false, false],
    ];

    /**
     * @param int $count The number of leads.
     * @param string $vertical A name of 1 to 255 printable characters that is not blank.
     * @param StateCode::*|string $state
     * @param int|null $seed Another seed gives other leads.
     * @param string|null $campaignId A campaign to send the leads through. Without it, the leads are only generated.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly int $count,
        public readonly string $vertical,
        public readonly string $state,
        public readonly ?int $seed = null,
        public readonly ?string $campaignId = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
