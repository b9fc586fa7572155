<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/**
 * Implemented by all exceptions of this package. Messages contain no secret and no personal data, and no
 * exception keeps the request, so all may be logged.
 */
abstract class PingpostException extends \RuntimeException
{
}
