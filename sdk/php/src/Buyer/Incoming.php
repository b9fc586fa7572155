<?php

declare(strict_types=1);

namespace Pingpost\Buyer;

/** What comes with a ping or a post, beside its body. Both functions get it second. */
final class Incoming
{
    public function __construct(
        /** The same at every try of the exchange. */
        public readonly string $idempotencyKey,
        /** Whether this is a test, for which nothing is paid. */
        public readonly bool $test,
        /** The exchange's name for the request, for your logs; made where it told none. */
        public readonly string $requestId,
        /** How many exchanges a ping has been through; 0 where it does not say. */
        public readonly int $hops,
    ) {
    }
}
