<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/** A webhook that is not from the exchange, or too old. Answer 400 and do nothing of what it says. */
final class SignatureException extends PingpostException
{
}
