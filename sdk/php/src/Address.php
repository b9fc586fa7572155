<?php

declare(strict_types=1);

namespace Pingpost;

use Pingpost\Exception\UsageException;

/** @internal */
final class Address
{
    /** The address without a slash at its end, to which a path is added. */
    public static function of(#[\SensitiveParameter] string $url, string $option): string
    {
        $parts = parse_url($url);
        if (
            !is_array($parts)
            || !in_array(strtolower($parts['scheme'] ?? ''), ['http', 'https'], true)
            || ($parts['host'] ?? '') === ''
        ) {
            throw new UsageException("$option has to be an address such as https://exchange.example.com");
        }
        if (array_diff_key($parts, ['scheme' => 1, 'host' => 1, 'port' => 1, 'path' => 1]) !== []) {
            throw new UsageException("$option has to be an address without a user, a password, a query or a fragment");
        }
        return rtrim($url, '/');
    }
}
