<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/**
 * No answer arrived, or it was unreadable. The exchange may have processed the request or
 * not: call again with the same $idempotencyKey, and it is processed once.
 */
class TransportException extends PingpostException
{
    public function __construct(string $message, public readonly ?string $idempotencyKey = null)
    {
        parent::__construct($message);
    }

    /** The same, and which key the request had. */
    public function underKey(?string $key): static
    {
        return new static($this->getMessage(), $key);
    }
}
