<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A report on one lead.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class StatusChange extends Message
{
    protected const MEMBERS = [
        'status' => ['status', 'string', true, false],
        'reason' => ['reason', 'string', false, false],
        'occurred_at' => ['occurredAt', 'string', false, false],
    ];

    /**
     * @param ReportedStatus::*|string $status
     * @param string|null $reason The reason, in at most 255 printable characters. Required for `returned`; it must be in the campaign's list of reasons, if there is one. The supplier receives it, without phone numbers and e-mail addresses.
     * @param string|null $occurredAt When it happened, at most five minutes in the future.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $status,
        public readonly ?string $reason = null,
        public readonly ?string $occurredAt = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
