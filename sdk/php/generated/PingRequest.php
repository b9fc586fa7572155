<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * What is told of a lead before it is sold. Beside the members below it may have any others; they go on to the buyers. Contact details (names, phone, email, street, however they are spelt) are refused with `contact_field_not_allowed`, at any depth. A buyer's endpoint is sent the same form.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class PingRequest extends Message
{
    protected const MEMBERS = [
        'auction_id' => ['auctionId', 'string', true, false],
        'vertical' => ['vertical', 'string', true, false],
        'sub_vertical' => ['subVertical', 'string', false, false],
        'state' => ['state', 'string', true, false],
        'zip3' => ['zip3', 'string', false, false],
        'currently_insured' => ['currentlyInsured', 'bool', false, false],
        'vehicle_count' => ['vehicleCount', 'int', false, false],
        'driver_age_band' => ['driverAgeBand', 'string', false, false],
        'ai_quality_score' => ['aiQualityScore', 'float', false, false],
        'source' => ['source', 'string', false, false],
        'tcpa_consent' => ['tcpaConsent', 'bool', true, false],
        'consent_cert_url' => ['consentCertUrl', 'string', false, false],
        'expires_at' => ['expiresAt', 'string', false, false],
    ];

    /**
     * @param string $auctionId The asker's name for an auction, of 1 to 255 printable characters. It names one auction and no other.
     * @param string $vertical A name of 1 to 255 printable characters that is not blank.
     * @param StateCode::*|string $state
     * @param bool $tcpaConsent Whether the person has agreed to be called. In pings to buyers, false where it is not known.
     * @param string|null $subVertical A name of 1 to 255 printable characters that is not blank.
     * @param string|null $zip3 The first three digits of a ZIP code.
     * @param bool|null $currentlyInsured Whether the person has insurance of this kind.
     * @param int|null $vehicleCount How many vehicles there are to insure.
     * @param string|null $driverAgeBand The driver's age, as the lower and the upper end of a range.
     * @param float|null $aiQualityScore How good the lead is held to be, commonly from 0 to 1.
     * @param string|null $source Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
     * @param string|null $consentCertUrl Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
     * @param string|null $expiresAt Until when the asker listens. Left out, or more than five seconds ahead, it is five seconds from now; what is past is refused as `expired`.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $auctionId,
        public readonly string $vertical,
        public readonly string $state,
        public readonly bool $tcpaConsent,
        public readonly ?string $subVertical = null,
        public readonly ?string $zip3 = null,
        public readonly ?bool $currentlyInsured = null,
        public readonly ?int $vehicleCount = null,
        public readonly ?string $driverAgeBand = null,
        public readonly ?float $aiQualityScore = null,
        public readonly ?string $source = null,
        public readonly ?string $consentCertUrl = null,
        public readonly ?string $expiresAt = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
