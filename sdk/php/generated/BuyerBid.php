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
     * @param float $amount An amount of money in units of its currency, with at most six decimals.
     * @param string $bidToken The token that the post repeats, of 1 to 512 visible ASCII characters.
     * @param string|null $currency An ISO 4217 currency code.
     * @param string|null $validUntil When the bid expires. By default after five seconds, when the exchange stops waiting.
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
