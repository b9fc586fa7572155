<?php

declare(strict_types=1);

// The classes where there is no Composer: this package's own, and what it needs from Debian's packages
// php-guzzlehttp-guzzle and php-nyholm-psr7. A project with Composer requires vendor/autoload.php instead.

require_once 'GuzzleHttp/autoload.php';
require_once 'Nyholm/Psr7/autoload.php';

spl_autoload_register(static function (string $class): void {
    $folders = ['Pingpost\\Model\\' => '/generated/', 'Pingpost\\' => '/src/'];
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
