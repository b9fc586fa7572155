<?php

declare(strict_types=1);

namespace Pingpost\Buyer;

/** What a post function returns not to take the lead. The exchange does not send it here again. */
final class Refusal
{
    public function __construct(
        /** Why, for programs, such as `duplicate`. */
        public readonly string $reason,
        /** The same in words. Nothing of the person belongs into it. */
        public readonly string $message = 'the lead is refused',
    ) {
    }
}
