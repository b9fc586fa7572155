<?php

declare(strict_types=1);

namespace Pingpost\Buyer;

/** What a bid function returns not to bid. */
final class NoBid
{
    public function __construct(
        /** Why, for programs, such as `state`. */
        public readonly string $reason = 'no_bid',
        /** The same in words. */
        public readonly string $detail = 'not wanted',
    ) {
    }
}
