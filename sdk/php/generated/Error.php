<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * Every error, on every path.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class Error extends Message
{
    protected const MEMBERS = [
        'error' => ['error', 'string', true, false],
        'message' => ['message', 'string', true, false],
        'request_id' => ['requestId', 'string', true, false],
        'field_errors' => ['fieldErrors', [FieldError::class], false, false],
        'reason' => ['reason', 'string', false, false],
        'error_description' => ['errorDescription', 'string', false, false],
    ];

    /**
     * @param ErrorCode::*|string $error
     * @param string $message What is wrong and what to do, for a person. It never repeats what was sent.
     * @param string $requestId The exchange's name for one request, in its logs too.
     * @param list<FieldError>|null $fieldErrors With `invalid_payload`, every member that is at fault.
     * @param UnmatchedReason::*|string|null $reason
     * @param string|null $errorDescription With the errors of OAuth at `/oauth/token`, the same as `message`.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $error,
        public readonly string $message,
        public readonly string $requestId,
        public readonly ?array $fieldErrors = null,
        public readonly ?string $reason = null,
        public readonly ?string $errorDescription = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
