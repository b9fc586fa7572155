<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * An error. All paths use this form.
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
     * @param string $message The problem and the remedy as text for people. It never repeats your input.
     * @param string $requestId The exchange's id of one request, also in its logs.
     * @param list<FieldError>|null $fieldErrors With `invalid_payload`, all invalid members.
     * @param UnmatchedReason::*|string|null $reason
     * @param string|null $errorDescription With the errors of OAuth at `/oauth/token`, the text of `message`.
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
