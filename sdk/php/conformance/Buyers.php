<?php

declare(strict_types=1);

namespace Pingpost\Conformance;

use Pingpost\Exception\UsageException;
use Pingpost\Json;

/**
 * The buyers of a run: each is PHP's own server with several workers and conformance/endpoint.php, and
 * a folder with its instructions and its received requests.
 */
final class Buyers
{
    private const WORKERS = '16';

    /** @var array<string, array{resource, string}> the process and the folder of each, by its name */
    private array $buyers = [];

    private int $opened = 0;

    public function __construct(private readonly string $folder)
    {
    }

    /**
     * @param array<string, mixed> $request
     * @return array<string, mixed>
     */
    public function serve(array $request): array
    {
        if ($request['flavor'] !== 'psr15') {
            throw new UsageException('no such flavor');
        }
        $folder = $this->folder . '/' . getmypid() . '-' . ++$this->opened;
        mkdir($folder, 0700, true);
        $prefix = $request['prefix'] ?? '';
        $told = ['credential' => $request['credential'] ?? null, 'prefix' => $prefix];
        file_put_contents("$folder/serve.json", Json::encode($told));
        $this->stop($request['buyer']);
        for ($try = 1; $try <= 20; $try++) {
            $place = self::freePlace();
            $process = $this->start($place, $folder);
            if (self::answers($process, $place)) {
                $this->buyers[$request['buyer']] = [$process, $folder];
                $this->script($request['buyer'], $request['script']);
                return ['url' => "http://$place$prefix"];
            }
            $this->end($process);
        }
        throw new \RuntimeException('no server could be started');
    }

    /**
     * @param array<string, mixed>|\stdClass $script
     * @return array<string, mixed>
     */
    public function script(string $buyer, array|\stdClass $script): array
    {
        $folder = $this->folderOf($buyer);
        file_put_contents("$folder/script.new", Json::encode($script));
        rename("$folder/script.new", "$folder/script.json");
        return [];
    }

    /** @return array<string, mixed> */
    public function received(string $buyer): array
    {
        $folder = $this->folderOf($buyer);
        $pings = self::lines("$folder/pings");
        $posts = self::lines("$folder/posts");
        return ['pings' => $pings, 'posts' => $posts, 'bid_calls' => count($pings), 'post_calls' => count($posts)];
    }

    /** @return array<string, mixed> */
    public function stop(string $buyer): array
    {
        if (isset($this->buyers[$buyer])) {
            $this->end($this->buyers[$buyer][0]);
            unset($this->buyers[$buyer]);
        }
        return [];
    }

    public function stopAll(): void
    {
        foreach (array_keys($this->buyers) as $buyer) {
            $this->stop($buyer);
        }
    }

    private function folderOf(string $buyer): string
    {
        return $this->buyers[$buyer][1] ?? throw new UsageException('no such buyer');
    }

    /** @return resource */
    private function start(string $place, string $folder)
    {
        $nothing = ['file', '/dev/null', 'w'];
        // Its own session, so that the workers can be ended with it.
        return proc_open(
            ['setsid', PHP_BINARY, '-d', 'display_errors=stderr', '-S', $place, __DIR__ . '/endpoint.php'],
            [['file', '/dev/null', 'r'], $nothing, ['file', "$folder/stderr", 'a']],
            $pipes,
            null,
            ['FOLDER' => $folder, 'PHP_CLI_SERVER_WORKERS' => self::WORKERS] + getenv()
        );
    }

    /** @param resource $process */
    private function end($process): void
    {
        $pid = proc_get_status($process)['pid'];
        posix_kill(-$pid, SIGKILL);
        proc_close($process);
    }

    private static function freePlace(): string
    {
        $socket = stream_socket_server('tcp://127.0.0.1:0');
        $place = stream_socket_get_name($socket, false);
        fclose($socket);
        return $place;
    }

    /** @param resource $process */
    private static function answers($process, string $place): bool
    {
        for ($try = 1; $try <= 1000 && proc_get_status($process)['running']; $try++) {
            $socket = @stream_socket_client("tcp://$place", $code, $message, 1);
            if ($socket !== false) {
                fclose($socket);
                return true;
            }
            usleep(20000);
        }
        return false;
    }

    /** @return list<mixed> */
    private static function lines(string $path): array
    {
        if (!is_file($path)) {
            return [];
        }
        $file = fopen($path, 'r');
        flock($file, LOCK_SH);
        $text = (string) stream_get_contents($file);
        fclose($file);
        return array_map(fn (string $line) => Json::decodeObject($line), array_filter(explode("\n", $text)));
    }
}
