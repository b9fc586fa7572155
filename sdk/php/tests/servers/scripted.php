<?php

declare(strict_types=1);

// A server that answers as it is told, and writes down what it was sent. Its folder has `script`, a JSON list of
// what to do to one request after the other, the last of them to all that follow:
//
//   {"status": 503, "headers": {"Retry-After": "2"}, "body": {…} or "text": "…"}   an answer
//   {"drop": true}            the connection ends without one
//   {"status": 200, "cut": 5} all of it is announced, and so many bytes of the body are sent
//   {"delay": 1.5, …}         so many seconds before it
//   {"keep": true, …}         the connection is kept for the next request
//
// Each request is a line of `requests`; the address is the first line on the standard output. Connections are
// answered side by side, each in a process of its own.

$folder = $argv[1];
$server = stream_socket_server('tcp://127.0.0.1:0');
echo stream_socket_get_name($server, false), "\n";
pcntl_async_signals(true);
pcntl_signal(SIGCHLD, SIG_IGN);
for (;;) {
    $connection = @stream_socket_accept($server, 3600);
    if ($connection === false) {
        continue;
    }
    if (pcntl_fork() !== 0) {
        fclose($connection);
        continue;
    }
    fclose($server);
    while (answer($connection, $folder)) {
        continue;
    }
    exit(0);
}

/**
 * @param resource $connection
 * @return bool whether it is kept
 */
function answer($connection, string $folder): bool
{
    $first = explode(' ', trim((string) fgets($connection)));
    if (count($first) !== 3) {
        return false; // It was only looked whether somebody is here.
    }
    $headers = [];
    while (($line = trim((string) fgets($connection))) !== '') {
        [$name, $value] = explode(':', $line, 2);
        $headers[strtolower($name)] = trim($value);
    }
    $length = (int) ($headers['content-length'] ?? 0);
    $body = $length === 0 ? '' : (string) stream_get_contents($connection, $length);

    $lock = fopen("$folder/requests", 'c+');
    flock($lock, LOCK_EX);
    $before = count(array_filter(explode("\n", (string) stream_get_contents($lock))));
    $request = ['method' => $first[0], 'path' => $first[1], 'headers' => $headers, 'body' => base64_encode($body)];
    fwrite($lock, json_encode($request, JSON_THROW_ON_ERROR) . "\n");
    fclose($lock);

    $script = json_decode((string) file_get_contents("$folder/script"), true);
    $does = $script[min($before, count($script) - 1)];
    usleep((int) (($does['delay'] ?? 0) * 1e6));
    if ($does['drop'] ?? false) {
        return false;
    }
    $text = $does['text'] ?? json_encode($does['body'] ?? new stdClass(), JSON_THROW_ON_ERROR);
    fwrite($connection, "HTTP/1.1 $does[status] As told\r\n");
    $headers = ($does['headers'] ?? []) + [
        'Content-Type' => 'application/json',
        'Connection' => $does['keep'] ?? false ? 'keep-alive' : 'close',
        'Content-Length' => strlen($text),
    ];
    foreach ($headers as $name => $value) {
        fwrite($connection, "$name: $value\r\n");
    }
    fwrite($connection, "\r\n" . substr($text, 0, $does['cut'] ?? strlen($text)));
    return $does['keep'] ?? false;
}
