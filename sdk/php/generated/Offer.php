<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * One buyer's bid, as the supplier's payout.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class Offer extends Message
{
    protected const MEMBERS = [
        'buyer_id' => ['buyerId', 'string', true, false],
        'amount' => ['amount', 'float', true, false],
        'currency' => ['currency', 'string', true, false],
        'valid_until' => ['validUntil', 'string', true, false],
    ];

    /**
     * @param string $buyerId The buyer.
     * @param float $amount An amount of money in units of its currency, with at most six decimals.
     * @param string $currency An ISO 4217 currency code.
     * @param string $validUntil When the offer expires.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $buyerId,
        public readonly float $amount,
        public readonly string $currency,
        public readonly string $validUntil,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
