<?php

declare(strict_types=1);

namespace Pingpost;

/**
 * Keeps access tokens between calls.
 *
 * MemoryTokenStore is the default and lasts as long as the process. Under PHP-FPM that is one request:
 * FileTokenStore, or your own store in a cache, then avoids a token request each time.
 */
interface TokenStore
{
    /**
     * Returns the token of a name. If it is missing, expired or equal to $refused, $fetch fetches a
     * new one, which is kept. While one caller fetches, others for the same name wait for its token.
     *
     * @param \Closure(): Token $fetch what it throws is thrown on, and nothing is kept
     * @param string|null $refused a token's value that the exchange has just answered with 401
     */
    public function token(
        string $name,
        float $now,
        \Closure $fetch,
        #[\SensitiveParameter] ?string $refused = null,
    ): Token;
}
