<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/**
 * No answer could be had, or none that can be read. Whether the exchange has taken the request is not
 * known: call again with the same $idempotencyKey, and it is done once.
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
