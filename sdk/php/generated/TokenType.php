<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * The type of the token.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class TokenType
{
    public const BEARER = 'Bearer';

    /** All that were known when this was made. An exchange may send others. */
    public const KNOWN = [self::BEARER];
}
