<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * An amount of money and its currency.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class Price extends Message
{
    protected const MEMBERS = [
        'amount' => ['amount', 'float', true, false],
        'currency' => ['currency', 'string', true, false],
    ];

    /**
     * @param float $amount An amount of money in units of its currency, with at most six decimals.
     * @param string $currency An ISO 4217 currency code.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly float $amount,
        public readonly string $currency,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
