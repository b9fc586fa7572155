<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * The state of a lead's return. `waiting`: for an operator. `approved`: the lead was returned. `refused`: an operator denied it. A denied return cannot be requested again.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class ReturnState
{
    public const WAITING = 'waiting';
    public const APPROVED = 'approved';
    public const REFUSED = 'refused';

    /** All that were known when this was made. An exchange may send others. */
    public const KNOWN = [self::WAITING, self::APPROVED, self::REFUSED];
}
