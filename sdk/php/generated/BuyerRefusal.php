<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A buyer's rejection of a lead. All members are optional, because the status decides.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class BuyerRefusal extends Message
{
    protected const MEMBERS = [
        'error' => ['error', 'string', false, false],
        'message' => ['message', 'string', false, false],
    ];

    /**
     * @param string|null $error The cause as a code.
     * @param string|null $message The cause as text for people.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly ?string $error = null,
        public readonly ?string $message = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
