<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/** 400 or 422: the request is wrong; $fieldErrors says where. */
final class InvalidRequestException extends ApiException
{
}
