<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/** No answer came in time, at any of the tries. */
final class TimeoutException extends TransportException
{
}
