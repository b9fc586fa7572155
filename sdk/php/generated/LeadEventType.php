<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * The type of the event.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class LeadEventType
{
    public const LEAD_POSTED = 'lead.posted';
    public const LEAD_CONTACTED = 'lead.contacted';
    public const LEAD_QUALIFIED = 'lead.qualified';
    public const LEAD_SOLD = 'lead.sold';
    public const LEAD_RETURNED = 'lead.returned';
    public const LEAD_UNMATCHED = 'lead.unmatched';
    public const LEAD_POST_FAILED = 'lead.post_failed';

    /** All that were known when this was made. An exchange may send others. */
    public const KNOWN = [self::LEAD_POSTED, self::LEAD_CONTACTED, self::LEAD_QUALIFIED, self::LEAD_SOLD, self::LEAD_RETURNED, self::LEAD_UNMATCHED, self::LEAD_POST_FAILED];
}
