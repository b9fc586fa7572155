<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A generated lead, before and after its sale.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class SeededLead extends Message
{
    protected const MEMBERS = [
        'ping' => ['ping', SeededPing::class, true, false],
        'lead' => ['lead', PostLead::class, true, false],
    ];

    /**
     * @param SeededPing $ping
     * @param PostLead $lead
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly SeededPing $ping,
        public readonly PostLead $lead,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
