<?php

declare(strict_types=1);

namespace Pingpost;

use Psr\Http\Message\ResponseInterface;

/**
 * Waits between attempts: the time in Retry-After, or 1, 2, 4, 8, 16 s with up
 * to a tenth more, so that clients that failed together do not retry together.
 *
 * @internal
 */
final class Waits
{
    private const LONGEST = 16;

    /** What is waited for at most where Retry-After says more, in seconds. */
    private const LONGEST_ASKED = 3600;

    /** @param int $failed how many tries have failed, from 1 */
    public static function before(int $failed, ?float $retryAfter): float
    {
        if ($retryAfter !== null) {
            return min($retryAfter, self::LONGEST_ASKED);
        }
        return min(2 ** ($failed - 1), self::LONGEST) * (1 + random_int(0, 100) / 1000);
    }

    /** Retry-After in seconds; null where it is not there, or says nothing. */
    public static function told(ResponseInterface $response, int $now): ?float
    {
        $value = trim($response->getHeaderLine('Retry-After'));
        if (preg_match('/^[0-9]{1,9}$/D', $value) === 1) {
            return (float) $value;
        }
        $date = \DateTimeImmutable::createFromFormat('!D, d M Y H:i:s \G\M\T', $value, new \DateTimeZone('UTC'));
        return $date === false ? null : (float) max(0, $date->getTimestamp() - $now);
    }

    /** Whether an answer of this status is worth another try. */
    public static function passing(int $status): bool
    {
        return $status === 429 || $status >= 500;
    }
}
