<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A whole lead: the members below and the fields of the campaign. By the campaign's setting, unknown members are dropped, kept for the buyer, or rejected as `unknown_field`. If the campaign has its own field named `campaign_id` or `supplier_id`, the member is that field, and the request needs the `flo_` name.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class IngestRequest extends Message
{
    protected const MEMBERS = [
        'campaign_id' => ['campaignId', 'string', false, false],
        'supplier_id' => ['supplierId', 'string', false, false],
        'flo_campaign_id' => ['floCampaignId', 'string', false, false],
        'flo_supplier_id' => ['floSupplierId', 'string', false, false],
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
     * @param string $firstName Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
     * @param string $lastName Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
     * @param string $phone A phone number of digits, spaces, `( ) - .` and a leading `+`, with at most 15 digits. Without `+` it is a US number. It must be a valid number; 555-0100 to 555-0199 are valid in every US area code. The exchange stores and sends it in E.164 form.
     * @param string $email An e-mail address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels without a hyphen at their ends, at most 254 bytes in total. No quotes, no address literal, no display name. The exchange stores the domain in lower case, and compares and hashes the whole address in lower case.
     * @param string|null $campaignId The lead's campaign.
     * @param string|null $supplierId The lead's supplier, which must own the API key.
     * @param string|null $floCampaignId Another name of `campaign_id`. If both are present, they must be equal.
     * @param string|null $floSupplierId Another name of `supplier_id`. If both are present, they must be equal.
     * @param string|null $floPingId The `ping_id` of a `POST /api/v1/ping`, to accept one of its offers. Requires `flo_buyer_id`.
     * @param string|null $floBuyerId The buyer of the accepted offer. Requires `flo_ping_id`.
     * @param StateCode::*|string|null $state
     * @param string|null $line1 Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
     * @param string|null $city Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
     * @param string|null $zip A ZIP code of five digits, or ZIP+4.
     * @param string|null $source Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
     * @param bool|null $tcpaConsent Whether the person agreed to calls.
     * @param string|null $consentCertUrl The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
     * @param string|null $consentText The text that the person agreed to, of at most 16,384 bytes. The only control characters allowed are tabs and line ends.
     * @param string|null $consentTimestamp When the person gave consent, in RFC 3339 with any offset and at most nine decimals.
     * @param string|null $ipAddress Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
     * @param float|null $aiQualityScore The lead's estimated quality, usually from 0 to 1.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $firstName,
        public readonly string $lastName,
        public readonly string $phone,
        public readonly string $email,
        public readonly ?string $campaignId = null,
        public readonly ?string $supplierId = null,
        public readonly ?string $floCampaignId = null,
        public readonly ?string $floSupplierId = null,
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
