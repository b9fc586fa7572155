<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * Partial data of a lead, to get bids. It has the members below and the campaign's ping fields. Contact data is rejected at any depth with `contact_field_not_allowed`.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class AvailabilityRequest extends Message
{
    protected const MEMBERS = [
        'flo_campaign_id' => ['floCampaignId', 'string', true, false],
        'flo_supplier_id' => ['floSupplierId', 'string', true, false],
        'state' => ['state', 'string', false, false],
        'zip' => ['zip', 'string', false, false],
        'zip3' => ['zip3', 'string', false, false],
        'source' => ['source', 'string', false, false],
        'tcpa_consent' => ['tcpaConsent', 'bool', false, false],
        'consent_cert_url' => ['consentCertUrl', 'string', false, false],
        'ai_quality_score' => ['aiQualityScore', 'float', false, false],
    ];

    /**
     * @param string $floCampaignId The campaign, which must have the method `ping_post`.
     * @param string $floSupplierId The supplier, which must own the API key.
     * @param StateCode::*|string|null $state
     * @param string|null $zip A ZIP code of five digits, or ZIP+4.
     * @param string|null $zip3 The first three digits of a ZIP code.
     * @param string|null $source Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
     * @param bool|null $tcpaConsent Whether the person agreed to calls.
     * @param string|null $consentCertUrl The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
     * @param float|null $aiQualityScore The lead's estimated quality, usually from 0 to 1.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $floCampaignId,
        public readonly string $floSupplierId,
        public readonly ?string $state = null,
        public readonly ?string $zip = null,
        public readonly ?string $zip3 = null,
        public readonly ?string $source = null,
        public readonly ?bool $tcpaConsent = null,
        public readonly ?string $consentCertUrl = null,
        public readonly ?float $aiQualityScore = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
