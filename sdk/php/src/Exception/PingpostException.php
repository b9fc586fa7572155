<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/**
 * All that this package throws. No message has a secret or anything of a person in it, and none
 * holds on to the request, so it may be logged as it is.
 */
abstract class PingpostException extends \RuntimeException
{
}
