<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * Partial data of a lead before its sale. It can have any other members, which go to the buyers. A member for contact data is rejected at any depth with `contact_field_not_allowed`. Only its name decides, without case and punctuation: `first_name`, `last_name`, `full_name`, `given_name`, `family_name`, `surname`, `fname`, `lname`, `contact_name`, `customer_name`; `phone`, `phone_number`, `telephone`, `home_phone`, `work_phone`, `mobile_phone`, `mobile_number`, `cell_phone`, `cell_number`; `email`, `email_address`; `line1`, `street`, `street_address`, `street1`, `street2`, `address1`, `address2`, `address_line1`, `address_line2`; and the campaign's own contact fields. A name that the campaign uses for another field is allowed. Contact data in a member of another name, such as `name`, is not recognized and goes to the buyers. Buyers' endpoints get the same form.
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
     * @param string $auctionId The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
     * @param string $vertical A name of 1 to 255 printable characters that is not blank.
     * @param StateCode::*|string $state
     * @param bool $tcpaConsent Whether the person agreed to calls. In pings to buyers, false if unknown.
     * @param string|null $subVertical A name of 1 to 255 printable characters that is not blank.
     * @param string|null $zip3 The first three digits of a ZIP code.
     * @param bool|null $currentlyInsured Whether the person has insurance of this kind.
     * @param int|null $vehicleCount The number of vehicles to insure.
     * @param string|null $driverAgeBand The driver's age, as the lower and the upper end of a range.
     * @param float|null $aiQualityScore The lead's estimated quality, usually from 0 to 1.
     * @param string|null $source Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
     * @param string|null $consentCertUrl The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
     * @param string|null $expiresAt The deadline for the answer. Absent or more than five seconds ahead means five seconds from now. A past time is rejected as `expired`.
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
