<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * Partial data of a lead, to get bids. It has the members below and the campaign's ping fields. Members for contact data are rejected at any depth with `contact_field_not_allowed`, by the names that `PingRequest` lists. If the campaign has its own field named `campaign_id` or `supplier_id`, the member is that field, and the request needs the `flo_` name.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class AvailabilityRequest extends Message
{
    protected const MEMBERS = [
        'campaign_id' => ['campaignId', 'string', false, false],
        'supplier_id' => ['supplierId', 'string', false, false],
        'flo_campaign_id' => ['floCampaignId', 'string', false, false],
        'flo_supplier_id' => ['floSupplierId', 'string', false, false],
        'state' => ['state', 'string', false, false],
        'zip' => ['zip', 'string', false, false],
        'zip3' => ['zip3', 'string', false, false],
        'source' => ['source', 'string', false, false],
        'tcpa_consent' => ['tcpaConsent', 'bool', false, false],
        'consent_cert_url' => ['consentCertUrl', 'string', false, false],
        'ai_quality_score' => ['aiQualityScore', 'float', false, false],
    ];

    /**
     * @param string|null $campaignId The campaign, which must have the method `ping_post`.
     * @param string|null $supplierId The supplier, which must own the API key.
     * @param string|null $floCampaignId Another name of `campaign_id`. If both are present, they must be equal.
     * @param string|null $floSupplierId Another name of `supplier_id`. If both are present, they must be equal.
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
        public readonly ?string $campaignId = null,
        public readonly ?string $supplierId = null,
        public readonly ?string $floCampaignId = null,
        public readonly ?string $floSupplierId = null,
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
