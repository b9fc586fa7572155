<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * What is known of the way to the buyer's endpoint. `none`: there is none, the lead is only recorded. `pending`: being sent, or between two tries. `delivered`: acknowledged. `unknown`: the tries are used up, and the operator decides. `failed`: refused. `confirmed`: the operator has found that the buyer has it. `released`: the operator took it back.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class DeliveryState
{
    public const NONE = 'none';
    public const PENDING = 'pending';
    public const DELIVERED = 'delivered';
    public const UNKNOWN = 'unknown';
    public const FAILED = 'failed';
    public const CONFIRMED = 'confirmed';
    public const RELEASED = 'released';

    /** All that were known when this was made. An exchange may send others. */
    public const KNOWN = [self::NONE, self::PENDING, self::DELIVERED, self::UNKNOWN, self::FAILED, self::CONFIRMED, self::RELEASED];
}
