<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/** 401: no credential, or one that is not known here. */
final class UnauthorizedException extends ApiException
{
}
