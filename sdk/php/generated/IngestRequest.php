<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A whole lead. Beside the members below it has those that the campaign's field mapping names. What nobody has named is dropped, kept for the buyer, or refused as `unknown_field`, as the campaign says.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class IngestRequest extends Message
{
    protected const MEMBERS = [
        'flo_campaign_id' => ['floCampaignId', 'string', true, false],
        'flo_supplier_id' => ['floSupplierId', 'string', true, false],
        'flo_ping_id' => ['floPingId', 'string', false, false],
        'flo_buyer_id' => ['floBuyerId', 'string', false, false],
        'first_name' => ['firstName', 'string', true, false],
        'last_name' => ['lastName', 'string', true, false],
        'phone' => ['phone', 'string', true, false],
        'email' => ['email', 'string', true, false],
        'state' => ['state', 'string', false, false],
        'line1' => ['line1', 'string', false, false],
        'city' => ['city', 'string', false, false],
        'zip' => ['zip', 'string', false, false],
        'source' => ['source', 'string', false, false],
        'tcpa_consent' => ['tcpaConsent', 'bool', false, false],
        'consent_cert_url' => ['consentCertUrl', 'string', false, false],
        'consent_text' => ['consentText', 'string', false, false],
        'consent_timestamp' => ['consentTimestamp', 'string', false, false],
        'ip_address' => ['ipAddress', 'string', false, false],
        'ai_quality_score' => ['aiQualityScore', 'float', false, false],
    ];

    /**
     * @param string $floCampaignId The campaign that the lead is for.
     * @param string $floSupplierId The supplier that sends it, which is the one that the API key belongs to.
     * @param string $firstName Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
     * @param string $lastName Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
     * @param string $phone A phone number of digits, spaces, `( ) - .` and a leading `+`, at most 15 digits. A US number unless it begins with `+`. It must be one that can have been given to somebody; 555-0100 to 555-0199 count as such in any US area code. Stored, and sent to buyers, in E.164 form.
     * @param string $email An email address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels with no hyphen at their ends, 254 bytes in all. No quotes, no address literal, no display name. Its domain is stored in lower case; compared and hashed it is lower case throughout.
     * @param string|null $floPingId The `ping_id` of a `POST /api/v1/ping`, to sell to a buyer that it offered. Together with `flo_buyer_id`.
     * @param string|null $floBuyerId The buyer that was chosen of those in that answer. Together with `flo_ping_id`.
     * @param StateCode::*|string|null $state
     * @param string|null $line1 Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
     * @param string|null $city Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
     * @param string|null $zip A ZIP code of five digits, or ZIP+4.
     * @param string|null $source Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
     * @param bool|null $tcpaConsent Whether the person has agreed to be called.
     * @param string|null $consentCertUrl Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
     * @param string|null $consentText The words that were agreed to, of at most 16,384 bytes, without control characters but tabs and ends of lines.
     * @param string|null $consentTimestamp When consent was given, as RFC 3339 has it, in any offset, with at most nine decimals.
     * @param string|null $ipAddress Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
     * @param float|null $aiQualityScore How good the lead is held to be, commonly from 0 to 1.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $floCampaignId,
        public readonly string $floSupplierId,
        public readonly string $firstName,
        public readonly string $lastName,
        public readonly string $phone,
        public readonly string $email,
        public readonly ?string $floPingId = null,
        public readonly ?string $floBuyerId = null,
        public readonly ?string $state = null,
        public readonly ?string $line1 = null,
        public readonly ?string $city = null,
        public readonly ?string $zip = null,
        public readonly ?string $source = null,
        public readonly ?bool $tcpaConsent = null,
        public readonly ?string $consentCertUrl = null,
        public readonly ?string $consentText = null,
        public readonly ?string $consentTimestamp = null,
        public readonly ?string $ipAddress = null,
        public readonly ?float $aiQualityScore = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
