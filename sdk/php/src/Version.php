<?php

declare(strict_types=1);

namespace Pingpost;

/** @internal */
final class Version
{
    public const NUMBER = '1.0.0';
}
