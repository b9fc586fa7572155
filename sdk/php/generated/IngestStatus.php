<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * `ACCEPTED`: a buyer was assigned, and `price` is what you are paid. `UNMATCHED`: nobody takes it, and `reason` says why.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class IngestStatus
{
    public const ACCEPTED = 'ACCEPTED';
    public const UNMATCHED = 'UNMATCHED';

    /** All that were known when this was made. An exchange may send others. */
    public const KNOWN = [self::ACCEPTED, self::UNMATCHED];
}
