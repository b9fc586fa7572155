<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A bid that you can accept.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class Bid extends Message
{
    protected const MEMBERS = [
        'amount' => ['amount', 'float', true, false],
        'currency' => ['currency', 'string', true, false],
        'bid_token' => ['bidToken', 'string', true, false],
        'valid_until' => ['validUntil', 'string', true, false],
    ];

    /**
     * @param float $amount An amount of money in units of its currency, with at most six decimals.
     * @param string $currency An ISO 4217 currency code.
     * @param string $bidToken The token for the post. It is valid for this auction and this seller only.
     * @param string $validUntil When the bid expires.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly float $amount,
        public readonly string $currency,
        public readonly string $bidToken,
        public readonly string $validUntil,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
