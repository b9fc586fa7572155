<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * What is known of the person's consent to be called.
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
     * @param string|null $consentText The words that were agreed to, of at most 16,384 bytes, without control characters but tabs and ends of lines.
     * @param string|null $consentTimestamp When consent was given, as RFC 3339 has it, in any offset, with at most nine decimals.
     * @param string|null $ipAddress Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
     * @param string|null $consentCertUrl Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
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
