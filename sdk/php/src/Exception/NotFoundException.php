<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/** 404: there is no such lead of yours, or no such path. */
final class NotFoundException extends ApiException
{
}
