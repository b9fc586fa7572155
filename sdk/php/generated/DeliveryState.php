<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * The state of the delivery to the buyer's endpoint. `none`: the buyer has no endpoint, and the lead is only recorded. `pending`: in progress, or between two attempts. `delivered`: acknowledged. `unknown`: all attempts failed without a clear answer, and an operator decides. `failed`: rejected. `confirmed`: an operator found that the buyer has the lead. `released`: an operator found that it does not.
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
