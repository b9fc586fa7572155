<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/** The package was called in a way that cannot work. Nothing was sent. */
final class UsageException extends PingpostException
{
}
