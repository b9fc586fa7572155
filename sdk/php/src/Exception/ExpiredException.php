<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/** 410: the bid has run out. */
final class ExpiredException extends ApiException
{
}
