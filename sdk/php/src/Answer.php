<?php

declare(strict_types=1);

namespace Pingpost;

use Pingpost\Exception\ApiException;
use Pingpost\Exception\ShapeException;
use Pingpost\Exception\TransportException;
use Pingpost\Model\FieldError;
use Psr\Http\Message\ResponseInterface;

/**
 * An answer of the exchange or of a proxy in front of it: status, headers and the whole body.
 *
 * @internal
 */
final class Answer
{
    public readonly int $status;

    /** Seconds; null where the answer says none. */
    public readonly ?float $retryAfter;

    private readonly string $body;

    /** @throws TransportException where the body breaks off */
    public function __construct(private readonly ResponseInterface $response)
    {
        $this->status = $response->getStatusCode();
        $this->retryAfter = Waits::told($response, time());
        try {
            $this->body = (string) $response->getBody();
        } catch (\RuntimeException $e) {
            throw new TransportException('the answer broke off: ' . $e::class);
        }
    }

    /**
     * @template T of Message
     * @param class-string<T> $class
     * @return T
     */
    public function message(string $class, ?string $key): Message
    {
        if ($this->status < 200 || $this->status > 299) {
            throw $this->error($key);
        }
        $meta = new Meta(
            status: $this->status,
            requestId: $this->header('X-Request-Id'),
            replayed: $this->header('Idempotent-Replayed') === 'true',
            rateLimit: $this->rateLimit(),
            idempotencyKey: $key,
        );
        try {
            return $class::fromArray(Json::decodeObject($this->body), $meta);
        } catch (\JsonException | ShapeException $e) {
            throw new TransportException(
                "the answer ($this->status) is not what an exchange answers: " . $e->getMessage(),
                $key
            );
        }
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return ['status' => $this->status];
    }

    private function error(?string $key): ApiException
    {
        try {
            $body = (array) Json::decodeObject($this->body);
        } catch (\JsonException) {
            $body = [];
        }
        $text = fn (string $name): ?string => is_string($body[$name] ?? null) ? $body[$name] : null;
        $class = ApiException::classFor($this->status);
        return new $class(
            status: $this->status,
            errorCode: $text('error'),
            detail: $text('message') ?? 'an answer that is not the exchange\'s own',
            requestId: $text('request_id') ?? $this->header('X-Request-Id'),
            fieldErrors: self::fieldErrors($body['field_errors'] ?? null),
            retryAfter: $this->retryAfter,
            idempotencyKey: $key,
            errorDescription: $text('error_description'),
            reason: $text('reason'),
        );
    }

    /** @return list<FieldError> */
    private static function fieldErrors(mixed $items): array
    {
        $errors = [];
        foreach (is_array($items) ? $items : [] as $item) {
            try {
                $errors[] = FieldError::fromArray((array) $item);
            } catch (ShapeException) {
                // An entry without a field name is of no use.
            }
        }
        return $errors;
    }

    private function header(string $name): ?string
    {
        $value = $this->response->getHeaderLine($name);
        return $value === '' ? null : $value;
    }

    private function rateLimit(): ?RateLimit
    {
        $values = [];
        foreach (['Limit', 'Remaining', 'Reset'] as $name) {
            $value = $this->header("X-RateLimit-$name");
            if ($value === null || preg_match('/^[0-9]{1,18}$/D', $value) !== 1) {
                return null;
            }
            $values[] = (int) $value;
        }
        return new RateLimit(...$values);
    }
}
