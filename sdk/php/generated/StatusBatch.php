<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * Reports on many leads.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class StatusBatch extends Message
{
    protected const MEMBERS = [
        'changes' => ['changes', [StatusBatchChange::class], true, false],
    ];

    /**
     * @param list<StatusBatchChange> $changes The reports, one for each lead.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly array $changes,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
