<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * The supported grant.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class GrantType
{
    public const CLIENT_CREDENTIALS = 'client_credentials';

    /** All that were known when this was made. An exchange may send others. */
    public const KNOWN = [self::CLIENT_CREDENTIALS];
}
