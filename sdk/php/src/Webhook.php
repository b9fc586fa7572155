<?php

declare(strict_types=1);

namespace Pingpost;

use Pingpost\Exception\ShapeException;
use Pingpost\Exception\SignatureException;
use Pingpost\Exception\UsageException;
use Pingpost\Model\LeadEvent;

/**
 * Verifies that a webhook comes from the exchange.
 *
 * An event has two signature formats, of which one is enough: `X-Pingpost-Signature`, and the three headers of
 * Standard Webhooks. If both are present, both must be correct. Events may repeat: drop repetitions by id.
 */
final class Webhook
{
    /**
     * @param string $body the bytes as they came, before anything has read them as JSON
     * @param array<string, string|list<string>> $headers as of getallheaders() or of a PSR-7 message
     * @param string|list<string> $secrets `whsec_…`; several while one is replaced by another
     * @param int $tolerance by how many seconds the time of signing may be off
     * @param int|null $now in epoch seconds; the clock's, where it is left out
     * @throws SignatureException where it is not the exchange's, or not of now
     * @throws UsageException where a secret is none
     */
    public static function verify(
        #[\SensitiveParameter] string $body,
        array $headers,
        #[\SensitiveParameter] string|array $secrets,
        int $tolerance = 300,
        ?int $now = null,
    ): LeadEvent {
        $keys = self::keys((array) $secrets);
        $now ??= time();
        $own = self::header($headers, 'x-pingpost-signature');
        $trio = array_map(
            fn (string $name) => self::header($headers, $name),
            ['webhook-id', 'webhook-timestamp', 'webhook-signature']
        );
        if ($own === null && array_filter($trio, 'is_string') === []) {
            throw new SignatureException('there is no signature');
        }
        if ($own !== null) {
            self::verifyOwn($own, $body, $keys, $tolerance, $now);
        }
        if (array_filter($trio, 'is_string') !== []) {
            self::verifyStandard($trio, $body, $keys, $tolerance, $now);
        }
        try {
            return LeadEvent::fromArray(Json::decodeObject($body));
        } catch (\JsonException | ShapeException $e) {
            throw new SignatureException('it is signed, but is no event: ' . $e->getMessage());
        }
    }

    /** @param list<string> $keys */
    private static function verifyOwn(
        string $signature,
        #[\SensitiveParameter] string $body,
        #[\SensitiveParameter] array $keys,
        int $tolerance,
        int $now,
    ): void {
        $time = null;
        $given = [];
        foreach (explode(',', $signature) as $part) {
            [$name, $value] = explode('=', trim($part), 2) + [1 => ''];
            if ($name === 't' && $time === null) {
                $time = $value;
            } elseif ($name === 't') {
                throw new SignatureException('X-Pingpost-Signature names two times');
            } elseif ($name === 'v1') {
                $given[] = $value;
            }
        }
        self::mustBeOfNow($time ?? '', 'X-Pingpost-Signature', $tolerance, $now);
        $right = array_map(fn (string $key) => hash_hmac('sha256', "$time.$body", $key), $keys);
        self::mustFit($right, $given, 'X-Pingpost-Signature');
    }

    /**
     * @param array{?string, ?string, ?string} $trio id, time and signature
     * @param list<string> $keys
     */
    private static function verifyStandard(
        array $trio,
        #[\SensitiveParameter] string $body,
        #[\SensitiveParameter] array $keys,
        int $tolerance,
        int $now,
    ): void {
        [$id, $time, $signature] = $trio;
        if ($id === null || $time === null || $signature === null) {
            throw new SignatureException('of webhook-id, webhook-timestamp and webhook-signature one is missing');
        }
        self::mustBeOfNow($time, 'webhook-timestamp', $tolerance, $now);
        $given = [];
        foreach (explode(' ', $signature) as $part) {
            if (str_starts_with($part, 'v1,')) {
                $given[] = substr($part, 3);
            }
        }
        $right = array_map(
            fn (string $key) => base64_encode(hash_hmac('sha256', "$id.$time.$body", $key, true)),
            $keys
        );
        self::mustFit($right, $given, 'webhook-signature');
    }

    private static function mustBeOfNow(string $time, string $header, int $tolerance, int $now): void
    {
        if (preg_match('/^[0-9]{1,15}$/D', $time) !== 1) {
            throw new SignatureException("$header has no time");
        }
        if (abs($now - (int) $time) > $tolerance) {
            throw new SignatureException("$header is of another time, " . ($now - (int) $time) . ' s from now');
        }
    }

    /**
     * @param list<string> $right
     * @param list<string> $given
     */
    private static function mustFit(array $right, array $given, string $header): void
    {
        $fits = false;
        foreach ($right as $one) {
            foreach ($given as $other) {
                $fits = hash_equals($one, $other) || $fits;
            }
        }
        if (!$fits) {
            throw new SignatureException("$header does not fit the body and the secret");
        }
    }

    /**
     * Returns a header that occurs once, or null if it is missing.
     *
     * @param array<string, string|list<string>> $headers
     */
    private static function header(array $headers, string $name): ?string
    {
        $found = [];
        foreach ($headers as $key => $value) {
            if (strtolower((string) $key) === $name) {
                array_push($found, ...array_values((array) $value));
            }
        }
        if (count($found) > 1) {
            throw new SignatureException("$name is there " . count($found) . ' times');
        }
        return $found[0] ?? null;
    }

    /**
     * @param array<string> $secrets
     * @return list<string>
     */
    private static function keys(#[\SensitiveParameter] array $secrets): array
    {
        if ($secrets === []) {
            throw new UsageException('there is no secret to verify by');
        }
        $keys = [];
        foreach ($secrets as $secret) {
            $key = str_starts_with($secret, 'whsec_') ? base64_decode(substr($secret, 6), true) : false;
            if ($key === false || $key === '') {
                throw new UsageException('a webhook secret is whsec_ and base64 after it; this is not one');
            }
            $keys[] = $key;
        }
        return $keys;
    }
}
