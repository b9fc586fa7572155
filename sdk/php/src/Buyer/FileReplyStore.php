<?php

declare(strict_types=1);

namespace Pingpost\Buyer;

use Pingpost\Exception\UsageException;
use Pingpost\Json;

/**
 * Keeps replies in a folder for a day. All processes of this machine with the same folder share them.
 *
 * Each key has a file, named by its hash. The answering process holds the file's lock meanwhile, so a
 * repeat waits there, and continues if the first process dies. A reply is on disk before it is sent,
 * and a reply that a crash cut short is invalid JSON: the post is then answered again. Files
 * of more than a day are removed, once in a thousand calls, each under its lock. A process that waited for a
 * removed file recognizes it by its link count and opens a new one.
 */
final class FileReplyStore implements ReplyStore
{
    private const DAY = 86400;
    private const SWEEP = 1000;

    public function __construct(private readonly string $folder)
    {
        if (!is_dir($folder) && !@mkdir($folder, 0700, true) && !is_dir($folder)) {
            throw new UsageException("cannot make the folder $folder for replies");
        }
    }

    public function once(string $key, \Closure $make): Reply
    {
        if (random_int(1, self::SWEEP) === 1) {
            $this->sweep();
        }
        $file = $this->locked($this->folder . '/' . hash('sha256', $key));
        try {
            $kept = self::read($file);
            if ($kept !== null) {
                return $kept;
            }
            $reply = $make();
            if ($reply->final) {
                ftruncate($file, 0);
                rewind($file);
                fwrite($file, Json::encode(['at' => time()] + get_object_vars($reply)));
                fflush($file);
                fsync($file);
            }
            return $reply;
        } finally {
            fclose($file);
        }
    }

    /** Removes what is older than a day. It happens by itself. */
    public function sweep(): void
    {
        foreach (new \DirectoryIterator($this->folder) as $entry) {
            if (!$entry->isFile() || $entry->getMTime() > time() - self::DAY) {
                continue;
            }
            $file = @fopen($entry->getPathname(), 'r+');
            if ($file !== false) {
                if (flock($file, LOCK_EX | LOCK_NB)) {
                    @unlink($entry->getPathname());
                }
                fclose($file);
            }
        }
    }

    /** @return resource */
    private function locked(string $path)
    {
        for (;;) {
            $mask = umask(0077);
            $file = @fopen($path, 'c+');
            umask($mask);
            if ($file === false || !flock($file, LOCK_EX)) {
                throw new \RuntimeException("cannot open $path for replies");
            }
            if ((fstat($file)['nlink'] ?? 0) > 0) {
                return $file;
            }
            fclose($file);
        }
    }

    /** @param resource $file */
    private static function read($file): ?Reply
    {
        $kept = json_decode((string) stream_get_contents($file), true);
        if (!is_array($kept) || ($kept['at'] ?? 0) < time() - self::DAY) {
            return null;
        }
        unset($kept['at']);
        return new Reply(...$kept);
    }
}
