<?php

declare(strict_types=1);

// Runs the suite's requests with the SDK; see sdk/conformance/PROTOCOL.md. Requests come as lines on
// the standard input, answers go as lines to the standard output.
//
// PHP has no threads, so an asynchronous request is done in a child process, whose answer comes
// back through a socket. What such calls have to share, the access tokens, is in files, as it is under PHP-FPM.

namespace Pingpost\Conformance;

require __DIR__ . '/../tests/autoload.php';
require __DIR__ . '/Buyers.php';
require __DIR__ . '/Clients.php';
require __DIR__ . '/Driver.php';

// What PHP has to say goes where the protocol is not.
ini_set('display_errors', 'stderr');
set_error_handler(static function (int $level, string $message, string $file, int $line): bool {
    if ((error_reporting() & $level) === 0) {
        return false;
    }
    throw new \ErrorException($message, 0, $level, $file, $line);
});

$out = getenv('OUT');
$own = $out === false || $out === '';
$folder = $own ? sys_get_temp_dir() . '/pingpost-driver-' . bin2hex(random_bytes(6)) : $out;
$buyers = new Buyers("$folder/buyers");
$driver = new Driver(new Clients("$folder/tokens"), $buyers);
try {
    $driver->listen(STDIN, STDOUT);
} finally {
    $buyers->stopAll();
}
if ($own) {
    $entries = new \RecursiveDirectoryIterator($folder, \FilesystemIterator::SKIP_DOTS);
    foreach (new \RecursiveIteratorIterator($entries, \RecursiveIteratorIterator::CHILD_FIRST) as $entry) {
        $entry->isDir() ? rmdir($entry->getPathname()) : unlink($entry->getPathname());
    }
    rmdir($folder);
}
