<?php

declare(strict_types=1);

namespace Pingpost\Buyer;

use Pingpost\Exception\UsageException;
use Psr\Http\Message\ServerRequestInterface;

/** Whom an endpoint listens to: an exchange that shows a secret you have agreed on with its operator. */
final class Access
{
    /** @param list<string> $hashes of the secrets that are good */
    private function __construct(
        private readonly string $header,
        private readonly string $scheme,
        private readonly array $hashes,
    ) {
    }

    /** By `Authorization: Bearer`. Several are good while one is replaced by another. */
    public static function bearer(#[\SensitiveParameter] string ...$tokens): self
    {
        return self::by('Authorization', 'Bearer ', $tokens);
    }

    /** By `x-api-key`. */
    public static function apiKey(#[\SensitiveParameter] string ...$keys): self
    {
        return self::by('x-api-key', '', $keys);
    }

    public function opens(ServerRequestInterface $request): bool
    {
        $shown = $request->getHeader($this->header);
        $length = strlen($this->scheme);
        if (count($shown) !== 1 || strncasecmp($shown[0], $this->scheme, $length) !== 0) {
            return false;
        }
        // Hashes have equal length, so the time does not reveal the length of the secret.
        $hash = hash('sha256', trim(substr($shown[0], $length)));
        $opens = false;
        foreach ($this->hashes as $good) {
            $opens = hash_equals($good, $hash) || $opens;
        }
        return $opens;
    }

    /** What a 401 says in WWW-Authenticate; null where nothing is to be said. */
    public function challenge(): ?string
    {
        return $this->scheme === '' ? null : 'Bearer';
    }

    /** @param array<string> $secrets */
    private static function by(string $header, string $scheme, #[\SensitiveParameter] array $secrets): self
    {
        if ($secrets === [] || in_array('', $secrets, true)) {
            throw new UsageException("an empty secret for $header would let everybody in");
        }
        return new self($header, $scheme, array_map(fn (string $one) => hash('sha256', $one), array_values($secrets)));
    }
}
