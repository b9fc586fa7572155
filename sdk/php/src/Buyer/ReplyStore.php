<?php

declare(strict_types=1);

namespace Pingpost\Buyer;

/**
 * Keeps the answers to posts, so that a repeated post creates no second lead.
 *
 * MemoryReplyStore is the default and lasts as long as the process. Under PHP-FPM that is one request:
 * use FileReplyStore there, or your own store in a database.
 */
interface ReplyStore
{
    /**
     * Returns the reply of a key, or the reply of $make, which it keeps if final. Two callers with one key
     * never run $make at the same time: the second one waits and gets the first one's reply if that is final.
     *
     * @param \Closure(): Reply $make what it throws is thrown on, and nothing is kept
     * @throws StillRunning where the first is not done and waiting for it is not possible
     */
    public function once(string $key, \Closure $make): Reply;
}
