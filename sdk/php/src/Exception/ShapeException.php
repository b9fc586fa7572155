<?php

declare(strict_types=1);

namespace Pingpost\Exception;

/** JSON that is not the message it should be. */
final class ShapeException extends PingpostException
{
    /** @param list<array{string, string, string}> $faults path, code and what is expected there */
    public function __construct(public readonly array $faults)
    {
        parent::__construct(implode('; ', array_map(
            fn (array $fault) => "$fault[0]: $fault[1], expected $fault[2]",
            $faults
        )));
    }
}
