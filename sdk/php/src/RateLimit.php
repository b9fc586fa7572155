<?php

declare(strict_types=1);

namespace Pingpost;

/** How much more may be sent. */
final class RateLimit
{
    public function __construct(
        /** How many requests a second, and how many at once. */
        public readonly int $limit,
        /** How many more at once. */
        public readonly int $remaining,
        /** When there is room for all again, in epoch seconds. */
        public readonly int $reset,
    ) {
    }
}
