<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * What is told of a lead to learn who would buy it. Beside the members below it has the campaign's own fields that go into pings. Contact details are refused with `contact_field_not_allowed`, at any depth.
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
     * @param string $floCampaignId The campaign, which must be one that holds auctions.
     * @param string $floSupplierId The supplier that asks, which is the one that the API key belongs to.
     * @param StateCode::*|string|null $state
     * @param string|null $zip A ZIP code of five digits, or ZIP+4.
     * @param string|null $zip3 The first three digits of a ZIP code.
     * @param string|null $source Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
     * @param bool|null $tcpaConsent Whether the person has agreed to be called.
     * @param string|null $consentCertUrl Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
     * @param float|null $aiQualityScore How good the lead is held to be, commonly from 0 to 1.
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
