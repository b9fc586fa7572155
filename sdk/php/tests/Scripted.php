<?php

declare(strict_types=1);

namespace Pingpost\Tests;

/** The scripted server of tests/servers, as a child process with a real socket. */
final class Scripted
{
    public readonly string $url;

    private readonly Process $process;

    /** @param array<string, mixed> ...$script */
    public function __construct(array ...$script)
    {
        $this->process = new Process([PHP_BINARY, __DIR__ . '/servers/scripted.php', '{folder}']);
        $this->url = 'http://' . $this->process->line();
        $this->does(...$script);
    }

    /**
     * From now on, with what was sent so far forgotten.
     *
     * @param array<string, mixed> ...$script
     */
    public function does(array ...$script): void
    {
        file_put_contents($this->process->folder . '/script', json_encode($script, JSON_THROW_ON_ERROR));
        file_put_contents($this->process->folder . '/requests', '');
    }

    /** @return list<array{method: string, path: string, headers: array<string, string>, body: string}> */
    public function requests(): array
    {
        $lines = array_filter(explode("\n", (string) file_get_contents($this->process->folder . '/requests')));
        return array_map(static function (string $line): array {
            $request = json_decode($line, true);
            $request['body'] = base64_decode($request['body']);
            return $request;
        }, array_values($lines));
    }

    public function end(): void
    {
        $this->process->end();
    }
}
