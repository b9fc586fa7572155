<?php

declare(strict_types=1);

namespace Pingpost;

/** What came with an answer, beside its body. */
final class Meta
{
    public function __construct(
        /** The status of HTTP, 200 or 201. */
        public readonly int $status,
        /** The exchange's name for the request: tell it when you ask for help. */
        public readonly ?string $requestId,
        /** Whether this is the first answer to the Idempotency-Key once more. */
        public readonly bool $replayed,
        /** Null on paths that have no limit. */
        public readonly ?RateLimit $rateLimit,
        /** The Idempotency-Key that was sent, given or made; null where none was. */
        public readonly ?string $idempotencyKey,
    ) {
    }
}
