<?php

declare(strict_types=1);

// The classes, for tests and for the conformance driver: by Composer where it was run, else without it.

if (is_file(__DIR__ . '/../vendor/autoload.php')) {
    require __DIR__ . '/../vendor/autoload.php';
    return;
}

require __DIR__ . '/../autoload.php';

spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/' . strtr(substr($class, strlen('Pingpost\\Tests\\')), '\\', '/') . '.php';
    if (str_starts_with($class, 'Pingpost\\Tests\\') && is_file($file)) {
        require $file;
    }
});
