<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A whole lead as a post carries it. Beside the members below it has the campaign's own fields. What it leaves out is taken from the ping.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class PostLead extends Message
{
    protected const MEMBERS = [
        'lead_uuid' => ['leadUuid', 'string', true, false],
        'first_name' => ['firstName', 'string', true, false],
        'last_name' => ['lastName', 'string', true, false],
        'email' => ['email', 'string', true, false],
        'phone' => ['phone', 'string', true, false],
        'address' => ['address', Address::class, false, false],
        'tcpa' => ['tcpa', Consent::class, false, false],
        'source' => ['source', 'string', false, false],
        'tcpa_consent' => ['tcpaConsent', 'bool', false, false],
        'ai_quality_score' => ['aiQualityScore', 'float', false, false],
    ];

    /**
     * @param string $leadUuid The sender's own id of the lead, of at most 255 printable characters. In posts to buyers, the exchange's.
     * @param string $firstName Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
     * @param string $lastName Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
     * @param string $email An email address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels with no hyphen at their ends, 254 bytes in all. No quotes, no address literal, no display name. Its domain is stored in lower case; compared and hashed it is lower case throughout.
     * @param string $phone A phone number of digits, spaces, `( ) - .` and a leading `+`, at most 15 digits. A US number unless it begins with `+`. It must be one that can have been given to somebody; 555-0100 to 555-0199 count as such in any US area code. Stored, and sent to buyers, in E.164 form.
     * @param Address|null $address
     * @param Consent|null $tcpa
     * @param string|null $source Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
     * @param bool|null $tcpaConsent Whether the person has agreed to be called.
     * @param float|null $aiQualityScore How good the lead is held to be, commonly from 0 to 1.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $leadUuid,
        public readonly string $firstName,
        public readonly string $lastName,
        public readonly string $email,
        public readonly string $phone,
        public readonly ?Address $address = null,
        public readonly ?Consent $tcpa = null,
        public readonly ?string $source = null,
        public readonly ?bool $tcpaConsent = null,
        public readonly ?float $aiQualityScore = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
