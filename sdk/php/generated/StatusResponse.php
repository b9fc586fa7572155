<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * The result of a report.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class StatusResponse extends Message
{
    protected const MEMBERS = [
        'lead_id' => ['leadId', 'string', true, false],
        'status' => ['status', 'string', true, false],
        'return' => ['return', 'string', false, false],
    ];

    /**
     * @param string $leadId The exchange's id of a lead.
     * @param LeadStatus::*|string $status
     * @param ReturnState::*|string|null $return
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $leadId,
        public readonly string $status,
        public readonly ?string $return = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
