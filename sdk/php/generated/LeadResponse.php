<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A lead, for suppliers with an API key.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class LeadResponse extends Message
{
    protected const MEMBERS = [
        'data' => ['data', Lead::class, true, false],
    ];

    /**
     * @param Lead $data
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly Lead $data,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
