<?php

declare(strict_types=1);

namespace Pingpost\Buyer;

/**
 * Remembers how posts were answered, so that a post that comes again makes no second lead.
 *
 * MemoryReplyStore is the default, and lives as long as the process. Under PHP-FPM that is one page:
 * use FileReplyStore there, or one of your own over your database.
 */
interface ReplyStore
{
    /**
     * The reply kept under a key, or that of $make, which is kept if it is final. Two callers with one key
     * never run $make side by side: the second waits, and gets the first one's reply if that was final.
     *
     * @param \Closure(): Reply $make what it throws is thrown on, and nothing is kept
     * @throws StillRunning where the first is not done and waiting for it is not possible
     */
    public function once(string $key, \Closure $make): Reply;
}
