<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * The status of a successful post.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class PostStatus
{
    public const ACCEPTED = 'ACCEPTED';

    /** All that were known when this was made. An exchange may send others. */
    public const KNOWN = [self::ACCEPTED];
}
