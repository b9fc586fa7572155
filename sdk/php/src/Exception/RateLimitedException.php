<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/** 429, at every try: too much was sent; $retryAfter says when there is room. */
final class RateLimitedException extends ApiException
{
}
