<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/** 403: the credential is known, and may not do this. */
final class ForbiddenException extends ApiException
{
}
