<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/** 5xx, at every try. Call again with the same $idempotencyKey to hear what became of it. */
final class ServerException extends ApiException
{
}
