<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * The body of a ping without `auction_id` and `expires_at`, with the usual fields of its vertical.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class SeededPing extends Message
{
    protected const MEMBERS = [
        'vertical' => ['vertical', 'string', true, false],
        'state' => ['state', 'string', true, false],
        'zip3' => ['zip3', 'string', true, false],
        'source' => ['source', 'string', true, false],
        'tcpa_consent' => ['tcpaConsent', 'bool', true, false],
        'ai_quality_score' => ['aiQualityScore', 'float', true, false],
        'consent_cert_url' => ['consentCertUrl', 'string', true, false],
    ];

    /**
     * @param string $vertical A name of 1 to 255 printable characters that is not blank.
     * @param StateCode::*|string $state
     * @param string $zip3 The first three digits of a ZIP code.
     * @param string $source Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
     * @param bool $tcpaConsent Whether the person agreed to calls.
     * @param float $aiQualityScore The lead's estimated quality.
     * @param string $consentCertUrl The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $vertical,
        public readonly string $state,
        public readonly string $zip3,
        public readonly string $source,
        public readonly bool $tcpaConsent,
        public readonly float $aiQualityScore,
        public readonly string $consentCertUrl,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
