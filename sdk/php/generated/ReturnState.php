<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * Where the return of a lead stands. `waiting`: for the operator. `approved`: the lead went back. `refused`: by the operator; it cannot be asked for again.
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
