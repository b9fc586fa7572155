<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * One invalid member of a request.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class FieldError extends Message
{
    protected const MEMBERS = [
        'field' => ['field', 'string', true, false],
        'code' => ['code', 'string', true, false],
        'expected' => ['expected', 'string', true, false],
    ];

    /**
     * @param string $field The member's place, as a path with dots such as `lead.tcpa.consent_cert_url`, or the name of a header.
     * @param FieldErrorCode::*|string $code
     * @param string $expected The valid form, as text for people.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $field,
        public readonly string $code,
        public readonly string $expected,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
