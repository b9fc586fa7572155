<?php

declare(strict_types=1);

namespace Pingpost;

/** Tokens for as long as this object lives. */
final class MemoryTokenStore implements TokenStore
{
    /** @var array<string, Token> */
    private array $tokens = [];

    public function token(
        string $name,
        float $now,
        \Closure $fetch,
        #[\SensitiveParameter] ?string $refused = null,
    ): Token {
        $kept = $this->tokens[$name] ?? null;
        if ($kept !== null && $kept->useUntil > $now && $kept->value !== $refused) {
            return $kept;
        }
        unset($this->tokens[$name]);
        return $this->tokens[$name] = $fetch();
    }
}
