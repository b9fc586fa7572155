<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A bid that can be taken up.
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
     * @param float $amount An amount of money, in units of the currency beside it, with at most six decimals.
     * @param string $currency A currency by ISO 4217.
     * @param string $bidToken What the post has to show. It is good for this auction and this seller alone.
     * @param string $validUntil Until when the bid can be taken up.
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
