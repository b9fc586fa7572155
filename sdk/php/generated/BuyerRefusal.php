<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * Why a buyer refuses a lead. Nothing of it is required; the status says enough.
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
     * @param string|null $error Why, as a code for programs.
     * @param string|null $message Why, in words for a person.
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
