<?php

declare(strict_types=1);

// The classes, for tests and for the conformance driver: by Composer where it was run, else from Debian's
// packages php-guzzlehttp-guzzle and php-nyholm-psr7.

if (is_file(__DIR__ . '/../vendor/autoload.php')) {
    require __DIR__ . '/../vendor/autoload.php';
    return;
}

require_once 'GuzzleHttp/autoload.php';
require_once 'Nyholm/Psr7/autoload.php';

spl_autoload_register(static function (string $class): void {
    $folders = [
        'Pingpost\\Model\\' => '/../generated/',
        'Pingpost\\Tests\\' => '/',
        'Pingpost\\' => '/../src/',
    ];
    foreach ($folders as $prefix => $folder) {
        if (str_starts_with($class, $prefix)) {
            $file = __DIR__ . $folder . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
            if (is_file($file)) {
                require $file;
            }
            return;
        }
    }
});

if (!interface_exists(\Psr\Http\Server\RequestHandlerInterface::class)) {
    require __DIR__ . '/psr15.php';
}
