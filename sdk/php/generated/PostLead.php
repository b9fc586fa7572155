<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A whole lead of a post: the members below and the campaign's own fields. The exchange takes missing members from the ping.
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
     * @param string $leadUuid The sender's id of the lead, of at most 255 printable characters. In posts to buyers, the exchange's id.
     * @param string $firstName Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
     * @param string $lastName Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
     * @param string $email An e-mail address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels without a hyphen at their ends, at most 254 bytes in total. No quotes, no address literal, no display name. The exchange stores the domain in lower case, and compares and hashes the whole address in lower case.
     * @param string $phone A phone number of digits, spaces, `( ) - .` and a leading `+`, with at most 15 digits. Without `+` it is a US number. It must be a valid number; 555-0100 to 555-0199 are valid in every US area code. The exchange stores and sends it in E.164 form.
     * @param Address|null $address
     * @param Consent|null $tcpa
     * @param string|null $source Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
     * @param bool|null $tcpaConsent Whether the person agreed to calls.
     * @param float|null $aiQualityScore The lead's estimated quality, usually from 0 to 1.
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
