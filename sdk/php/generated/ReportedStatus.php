<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * The outcome of a lead.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class ReportedStatus
{
    public const CONTACTED = 'contacted';
    public const QUALIFIED = 'qualified';
    public const SOLD = 'sold';
    public const RETURNED = 'returned';

    /** All that were known when this was made. An exchange may send others. */
    public const KNOWN = [self::CONTACTED, self::QUALIFIED, self::SOLD, self::RETURNED];
}
