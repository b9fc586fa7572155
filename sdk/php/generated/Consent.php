<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * The person's consent to calls, as far as known.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class Consent extends Message
{
    protected const MEMBERS = [
        'consent_text' => ['consentText', 'string', false, false],
        'consent_timestamp' => ['consentTimestamp', 'string', false, false],
        'ip_address' => ['ipAddress', 'string', false, false],
        'consent_cert_url' => ['consentCertUrl', 'string', false, false],
    ];

    /**
     * @param string|null $consentText The text that the person agreed to, of at most 16,384 bytes. The only control characters allowed are tabs and line ends.
     * @param string|null $consentTimestamp When the person gave consent, in RFC 3339 with any offset and at most nine decimals.
     * @param string|null $ipAddress Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
     * @param string|null $consentCertUrl The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly ?string $consentText = null,
        public readonly ?string $consentTimestamp = null,
        public readonly ?string $ipAddress = null,
        public readonly ?string $consentCertUrl = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
