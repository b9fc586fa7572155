<?php

declare(strict_types=1);

namespace Pingpost\Exception;

use Pingpost\Model\FieldError;

/**
 * The exchange has answered with an error. Each status has its own subclass; $errorCode
 * is a value of Pingpost\Model\ErrorCode, or one newer than this package.
 */
class ApiException extends PingpostException
{
    /**
     * @param string|null $errorCode null where the answer was not the exchange's own, as from a proxy
     * @param string $detail what the exchange says is wrong, for a person
     * @param list<FieldError> $fieldErrors
     * @param float|null $retryAfter seconds, where the answer told them
     * @param string|null $errorDescription what OAuth has at the token endpoint
     * @param string|null $reason with `post_rejected`, why, where it is known
     */
    final public function __construct(
        public readonly int $status,
        public readonly ?string $errorCode,
        public readonly string $detail,
        public readonly ?string $requestId = null,
        public readonly array $fieldErrors = [],
        public readonly ?float $retryAfter = null,
        public readonly ?string $idempotencyKey = null,
        public readonly ?string $errorDescription = null,
        public readonly ?string $reason = null,
    ) {
        $fields = array_map(fn (FieldError $fault) => "$fault->field ($fault->code)", $fieldErrors);
        parent::__construct(
            $status . ' ' . ($errorCode ?? 'error') . ": $detail"
            . ($fields === [] ? '' : '; ' . implode(', ', $fields))
            . ($requestId === null ? '' : " [$requestId]")
        );
    }

    /** The same, and which key the request had. */
    public function underKey(?string $key): static
    {
        return new static(
            $this->status,
            $this->errorCode,
            $this->detail,
            $this->requestId,
            $this->fieldErrors,
            $this->retryAfter,
            $key,
            $this->errorDescription,
            $this->reason,
        );
    }

    /**
     * Returns the exception class of a status.
     *
     * @return class-string<self>
     */
    public static function classFor(int $status): string
    {
        return match (true) {
            $status === 401 => UnauthorizedException::class,
            $status === 403 => ForbiddenException::class,
            $status === 404 => NotFoundException::class,
            $status === 409 => ConflictException::class,
            $status === 410 => ExpiredException::class,
            $status === 400, $status === 422 => InvalidRequestException::class,
            $status === 429 => RateLimitedException::class,
            $status >= 500 => ServerException::class,
            default => self::class,
        };
    }
}
