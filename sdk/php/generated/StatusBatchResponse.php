<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * The result of each report of a batch, in the same order.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class StatusBatchResponse extends Message
{
    protected const MEMBERS = [
        'results' => ['results', [StatusResult::class], true, false],
    ];

    /**
     * @param list<StatusResult> $results One result for each report.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly array $results,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
