<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A buyer's bid.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class BuyerBid extends Message
{
    protected const MEMBERS = [
        'amount' => ['amount', 'float', true, false],
        'currency' => ['currency', 'string', false, false],
        'bid_token' => ['bidToken', 'string', true, false],
        'valid_until' => ['validUntil', 'string', false, false],
    ];

    /**
     * @param float $amount An amount of money, in units of the currency beside it, with at most six decimals.
     * @param string $bidToken What the post shows you again, of 1 to 512 visible ASCII characters.
     * @param string|null $currency A currency by ISO 4217.
     * @param string|null $validUntil Until when you stand by the bid. Left out, as long as the exchange waits, which is five seconds.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly float $amount,
        public readonly string $bidToken,
        public readonly ?string $currency = null,
        public readonly ?string $validUntil = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
