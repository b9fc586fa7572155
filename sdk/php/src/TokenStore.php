<?php

declare(strict_types=1);

namespace Pingpost;

/**
 * Keeps access tokens between calls.
 *
 * MemoryTokenStore is the default, and lives as long as the process. Under PHP-FPM that is one page:
 * FileTokenStore, or one of your own over your cache, saves a request for a token in every page.
 */
interface TokenStore
{
    /**
     * The token under a name. Where there is none, or it is used up, or it is $refused, $fetch gets a
     * new one and it is kept. While one caller fetches, others for the same name wait for its token.
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
