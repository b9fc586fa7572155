<?php

declare(strict_types=1);

namespace Pingpost\Buyer;

/**
 * Keeps replies in this object, for a day each and at most the latest 10,000. For servers
 * with one long-running worker, such as RoadRunner.
 */
final class MemoryReplyStore implements ReplyStore
{
    private const DAY = 86400;

    /** @var array<string, array{float, Reply}> in the order in which they were made */
    private array $kept = [];

    /** @var array<string, true> */
    private array $running = [];

    public function __construct(private readonly int $most = 10_000)
    {
    }

    public function once(string $key, \Closure $make): Reply
    {
        $now = microtime(true);
        foreach ($this->kept as $old => [$made]) {
            if ($made > $now - self::DAY) {
                break;
            }
            unset($this->kept[$old]);
        }
        if (isset($this->kept[$key])) {
            return $this->kept[$key][1];
        }
        if (isset($this->running[$key])) {
            // Only with coroutines: a plain process runs one call at a time.
            throw new StillRunning();
        }
        $this->running[$key] = true;
        try {
            $reply = $make();
        } finally {
            unset($this->running[$key]);
        }
        if ($reply->final) {
            $this->kept[$key] = [$now, $reply];
            if (count($this->kept) > $this->most) {
                unset($this->kept[array_key_first($this->kept)]);
            }
        }
        return $reply;
    }
}
