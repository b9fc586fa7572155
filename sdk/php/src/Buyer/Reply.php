<?php

declare(strict_types=1);

namespace Pingpost\Buyer;

/** An answer of an endpoint, as it is kept for when the same request comes again. */
final class Reply
{
    /**
     * @param string $body JSON
     * @param string $fingerprint of the request that it answers
     * @param bool $final whether the same request gets the same answer from now on
     * @param array<string, string> $headers
     */
    public function __construct(
        public readonly int $status,
        public readonly string $body,
        public readonly string $requestId,
        public readonly string $fingerprint = '',
        public readonly bool $final = false,
        public readonly array $headers = [],
    ) {
    }
}
