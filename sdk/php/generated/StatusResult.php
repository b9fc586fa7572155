<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * The result of one report: `status`, or `error` and `message`.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class StatusResult extends Message
{
    protected const MEMBERS = [
        'lead_id' => ['leadId', 'string', true, true],
        'status' => ['status', 'string', false, false],
        'return' => ['return', 'string', false, false],
        'error' => ['error', 'string', false, false],
        'message' => ['message', 'string', false, false],
        'field_errors' => ['fieldErrors', [FieldError::class], false, false],
    ];

    /**
     * @param string|null $leadId The lead's id from the report; null if that was not text.
     * @param LeadStatus::*|string|null $status
     * @param ReturnState::*|string|null $return
     * @param ErrorCode::*|string|null $error
     * @param string|null $message The error as text for people.
     * @param list<FieldError>|null $fieldErrors With `invalid_payload`, the invalid members.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly ?string $leadId,
        public readonly ?string $status = null,
        public readonly ?string $return = null,
        public readonly ?string $error = null,
        public readonly ?string $message = null,
        public readonly ?array $fieldErrors = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
