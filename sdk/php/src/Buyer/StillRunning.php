<?php

declare(strict_types=1);

namespace Pingpost\Buyer;

/** The same post is being answered just now. The exchange is told to come again. */
final class StillRunning extends \RuntimeException
{
}
