<?php

declare(strict_types=1);

namespace Pingpost;

use Pingpost\Exception\UsageException;

/**
 * One call before it is sent: the parts that all its attempts share. The body is encoded at
 * the start, so that all attempts are equal.
 *
 * @internal
 */
final class Call
{
    public const API_KEY = 'apiKey';
    public const BEARER = 'token';
    private const NONE = 'none';

    /** @param array<string, string> $headers */
    private function __construct(
        public readonly string $method,
        public readonly string $path,
        public readonly string $auth,
        #[\SensitiveParameter] public readonly ?string $body,
        public readonly ?float $timeout,
        public readonly ?string $key = null,
        public readonly array $headers = [],
    ) {
        if ($timeout !== null && !($timeout > 0 && is_finite($timeout))) {
            throw new UsageException('timeout has to be a number of seconds above 0');
        }
    }

    public static function get(string $path, string $auth, ?float $timeout): self
    {
        return new self('GET', $path, $auth, null, $timeout);
    }

    /** @param Message|array<string, mixed> $body */
    public static function post(string $path, string $auth, Message|array $body, ?float $timeout): self
    {
        return new self('POST', $path, $auth, self::bytes($body), $timeout);
    }

    /** @param Message|array<string, mixed> $body */
    public static function token(Message|array $body, ?float $timeout): self
    {
        return new self('POST', '/oauth/token', self::NONE, self::bytes($body), $timeout);
    }

    /** With an Idempotency-Key: the one given, or one made for this call. */
    public function keyed(?string $key): self
    {
        if ($key !== null && preg_match('/^[!-~]([ -~]*[!-~])?$/D', $key) !== 1) {
            throw new UsageException('idempotencyKey has to be 1 to 255 visible ASCII characters');
        }
        return $this->with($key ?? self::freshKey(), $this->headers);
    }

    public function test(bool $test): self
    {
        return $test ? $this->with($this->key, $this->headers + ['X-Pingpost-Test' => '1']) : $this;
    }

    /** An id as one part of a path. */
    public static function segment(string $id): string
    {
        if ($id === '' || $id === '.' || $id === '..') {
            throw new UsageException('the id of a lead is empty, or not one');
        }
        return rawurlencode($id);
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return ['method' => $this->method, 'path' => $this->path, 'idempotencyKey' => $this->key];
    }

    /** @param array<string, string> $headers */
    private function with(?string $key, array $headers): self
    {
        return new self($this->method, $this->path, $this->auth, $this->body, $this->timeout, $key, $headers);
    }

    /** A UUID of version 4. */
    private static function freshKey(): string
    {
        $bytes = random_bytes(16);
        $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
        $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
    }

    /** @param Message|array<string, mixed> $body */
    private static function bytes(#[\SensitiveParameter] Message|array $body): string
    {
        try {
            return Json::encode(is_array($body) && array_is_list($body) ? (object) $body : $body);
        } catch (\JsonException $e) {
            // Not the exception itself: its trace contains the lead.
            throw new UsageException('the request cannot be written as JSON: ' . $e->getMessage());
        }
    }
}
