<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * The person's address, as far as known. A `state` or a `zip` that contradicts the ping is rejected as `ping_mismatch`.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class Address extends Message
{
    protected const MEMBERS = [
        'line1' => ['line1', 'string', false, false],
        'city' => ['city', 'string', false, false],
        'state' => ['state', 'string', false, false],
        'zip' => ['zip', 'string', false, false],
    ];

    /**
     * @param string|null $line1 Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
     * @param string|null $city Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
     * @param StateCode::*|string|null $state
     * @param string|null $zip A ZIP code of five digits, or ZIP+4.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly ?string $line1 = null,
        public readonly ?string $city = null,
        public readonly ?string $state = null,
        public readonly ?string $zip = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
