<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * The outcome of one lead: that of an ingest, or `error` if the lead was rejected.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class SeedResult extends Message
{
    protected const MEMBERS = [
        'id' => ['id', 'string', false, false],
        'status' => ['status', 'string', false, false],
        'buyer_id' => ['buyerId', 'string', false, true],
        'price' => ['price', Price::class, false, false],
        'reason' => ['reason', 'string', false, false],
        'error' => ['error', 'string', false, false],
        'field_errors' => ['fieldErrors', [FieldError::class], false, false],
    ];

    /**
     * @param string|null $id The exchange's id of a lead.
     * @param IngestStatus::*|string|null $status
     * @param string|null $buyerId The buyer; null if unsold.
     * @param Price|null $price
     * @param UnmatchedReason::*|string|null $reason
     * @param ErrorCode::*|string|null $error
     * @param list<FieldError>|null $fieldErrors With `invalid_payload`, the invalid members.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly ?string $id = null,
        public readonly ?string $status = null,
        public readonly ?string $buyerId = null,
        public readonly ?Price $price = null,
        public readonly ?string $reason = null,
        public readonly ?string $error = null,
        public readonly ?array $fieldErrors = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
