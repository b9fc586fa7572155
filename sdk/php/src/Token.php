<?php

declare(strict_types=1);

namespace Pingpost;

/** An access token, and until when to use it. */
final class Token
{
    /** A token is renewed when this part of its life is over. */
    private const PART = 0.9;

    public function __construct(
        #[\SensitiveParameter] public readonly string $value,
        /** In epoch seconds. */
        public readonly float $useUntil,
    ) {
    }

    public static function lasting(#[\SensitiveParameter] string $value, int $seconds, float $now): self
    {
        return new self($value, $now + self::PART * $seconds);
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return ['value' => '(withheld)', 'useUntil' => $this->useUntil];
    }
}
