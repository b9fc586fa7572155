<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/** 409: the auction, the sale or the report is not possible any more. */
final class ConflictException extends ApiException
{
}
