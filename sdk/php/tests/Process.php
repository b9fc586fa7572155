<?php

declare(strict_types=1);

namespace Pingpost\Tests;

/** A child process in a folder of its own, both gone with end(). */
final class Process
{
    public readonly string $folder;

    /** @var resource|null null once it is ended */
    private $process;

    /** @var resource */
    private $output;

    /**
     * @param list<string> $command each {folder} in it becomes the folder
     * @param array<string, string> $environment
     */
    public function __construct(array $command, array $environment = [])
    {
        $this->folder = sys_get_temp_dir() . '/pingpost-php-' . bin2hex(random_bytes(8));
        mkdir($this->folder, 0700);
        // A group of its own, so that its children end with it.
        $this->process = proc_open(
            ['setsid', ...str_replace('{folder}', $this->folder, $command)],
            [['file', '/dev/null', 'r'], ['pipe', 'w'], ['file', $this->folder . '/stderr', 'a']],
            $pipes,
            null,
            str_replace('{folder}', $this->folder, $environment) + getenv()
        );
        $this->output = $pipes[1];
    }

    /** A line that it writes, waited for. */
    public function line(): string
    {
        $line = fgets($this->output);
        if ($line === false) {
            throw new \RuntimeException('it ended: ' . file_get_contents($this->folder . '/stderr'));
        }
        return trim($line);
    }

    /** Waits until something listens at the address. */
    public function waitFor(string $address): void
    {
        for ($try = 0; $try < 3000; $try++) {
            $socket = @stream_socket_client("tcp://$address", $code, $message, 1);
            if ($socket !== false) {
                fclose($socket);
                return;
            }
            if (!proc_get_status($this->process)['running']) {
                break;
            }
            usleep(10000);
        }
        throw new \RuntimeException("nobody at $address: " . file_get_contents($this->folder . '/stderr'));
    }

    /** Also where a test has failed before its end. */
    public function __destruct()
    {
        $this->end();
    }

    public function end(): void
    {
        if ($this->process === null) {
            return;
        }
        $pid = proc_get_status($this->process)['pid'];
        posix_kill(-$pid, SIGKILL);
        fclose($this->output);
        proc_close($this->process);
        $this->process = null;
        self::remove($this->folder);
    }

    public static function remove(string $folder): void
    {
        $entries = new \RecursiveDirectoryIterator($folder, \FilesystemIterator::SKIP_DOTS);
        foreach (new \RecursiveIteratorIterator($entries, \RecursiveIteratorIterator::CHILD_FIRST) as $entry) {
            $entry->isDir() ? rmdir($entry->getPathname()) : unlink($entry->getPathname());
        }
        rmdir($folder);
    }

    public static function freePlace(): string
    {
        $socket = stream_socket_server('tcp://127.0.0.1:0');
        $place = stream_socket_get_name($socket, false);
        fclose($socket);
        return $place;
    }
}
