<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * The answer to a request for bids.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class AvailabilityResponse extends Message
{
    protected const MEMBERS = [
        'data' => ['data', Availability::class, true, false],
    ];

    /**
     * @param Availability $data
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly Availability $data,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
