<?php

declare(strict_types=1);

namespace Pingpost\Buyer;

use Pingpost\Exception\UsageException;

/** What a bid function returns to bid. */
final class Bid
{
    public readonly float $amount;

    /**
     * @param float $amount in units of the currency, from a millionth to a million; kept to six decimals
     * @param string|null $currency by ISO 4217; the campaign's, where it is left out
     * @param string|null $token what the post shows again, of 1 to 512 visible ASCII characters; made where left out
     * @param \DateTimeInterface|null $validUntil until when the bid stands; as long as an auction takes, where left out
     * @param list<string> $filtersPassed which of your filters the lead has passed, such as `state`
     */
    public function __construct(
        float $amount,
        public readonly ?string $currency = null,
        public readonly ?string $token = null,
        public readonly ?\DateTimeInterface $validUntil = null,
        public readonly array $filtersPassed = [],
    ) {
        if (!($amount >= 0.000001 && $amount <= 1_000_000)) {
            throw new UsageException('a bid is of 0.000001 to 1,000,000');
        }
        if ($currency !== null && preg_match('/^[A-Z]{3}$/D', $currency) !== 1) {
            throw new UsageException('a currency is three capital letters');
        }
        if ($token !== null && preg_match('/^[!-~]{1,512}$/D', $token) !== 1) {
            throw new UsageException('the token of a bid is 1 to 512 visible ASCII characters');
        }
        $this->amount = round($amount, 6);
    }
}
