<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * `ACCEPTED`: a buyer was assigned, and `price` is your payout. `UNMATCHED`: the lead is unsold, and `reason` has the cause.
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
