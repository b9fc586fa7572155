<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * An event of your lead.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class LeadEvent extends Message
{
    protected const MEMBERS = [
        'id' => ['id', 'string', true, false],
        'type' => ['type', 'string', true, false],
        'created_at' => ['createdAt', 'string', true, false],
        'data' => ['data', LeadEventData::class, true, false],
    ];

    /**
     * @param string $id The id of an event. Drop repeats by it.
     * @param LeadEventType::*|string $type
     * @param string $createdAt When it happened.
     * @param LeadEventData $data
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $id,
        public readonly string $type,
        public readonly string $createdAt,
        public readonly LeadEventData $data,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
