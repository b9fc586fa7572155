<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * `OPEN`: sent to a buyer's endpoint, without a result so far. `ACCEPTED`: a buyer was assigned. `UNMATCHED`: unsold. The others are the buyer's reports.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class LeadStatus
{
    public const OPEN = 'OPEN';
    public const ACCEPTED = 'ACCEPTED';
    public const UNMATCHED = 'UNMATCHED';
    public const CONTACTED = 'contacted';
    public const QUALIFIED = 'qualified';
    public const SOLD = 'sold';
    public const RETURNED = 'returned';

    /** All that were known when this was made. An exchange may send others. */
    public const KNOWN = [self::OPEN, self::ACCEPTED, self::UNMATCHED, self::CONTACTED, self::QUALIFIED, self::SOLD, self::RETURNED];
}
