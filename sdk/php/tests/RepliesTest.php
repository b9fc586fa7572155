<?php

declare(strict_types=1);

namespace Pingpost\Tests;

use PHPUnit\Framework\TestCase;
use Pingpost\Buyer\FileReplyStore;
use Pingpost\Buyer\MemoryReplyStore;
use Pingpost\Buyer\Reply;

final class RepliesTest extends TestCase
{
    private string $folder;

    protected function setUp(): void
    {
        $this->folder = sys_get_temp_dir() . '/pingpost-php-' . bin2hex(random_bytes(8));
    }

    protected function tearDown(): void
    {
        if (is_dir($this->folder)) {
            Process::remove($this->folder);
        }
    }

    public function testAFinalReplyIsKeptAndOthersAreNot(): void
    {
        foreach ([new MemoryReplyStore(), new FileReplyStore($this->folder)] as $store) {
            self::assertEquals(self::reply('a', false), $store->once('k', fn () => self::reply('a', false)));
            self::assertEquals(self::reply('b'), $store->once('k', fn () => self::reply('b')));
            self::assertEquals(self::reply('b'), $store->once('k', fn () => self::fail('asked again')));
            self::assertEquals(self::reply('c'), $store->once('other/../key', fn () => self::reply('c')));
        }
    }

    public function testWhatFailsIsNotKept(): void
    {
        foreach ([new MemoryReplyStore(), new FileReplyStore($this->folder)] as $store) {
            try {
                $store->once('k', fn () => throw new \DomainException());
                self::fail('nothing was thrown');
            } catch (\DomainException) {
                self::assertEquals(self::reply('a'), $store->once('k', fn () => self::reply('a')));
            }
        }
    }

    public function testMemoryKeepsTheLatest(): void
    {
        $store = new MemoryReplyStore(most: 2);
        foreach (['a', 'b', 'c'] as $key) {
            $store->once($key, fn () => self::reply($key));
        }
        self::assertEquals(self::reply('new'), $store->once('a', fn () => self::reply('new')));
        self::assertEquals(self::reply('c'), $store->once('c', fn () => self::fail('asked again')));
    }

    public function testFilesAreOnesOwnAndAreKeptForADay(): void
    {
        $store = new FileReplyStore($this->folder);
        $store->once('old', fn () => self::reply('a'));
        $store->once('young', fn () => self::reply('b'));
        foreach (glob($this->folder . '/*') as $file) {
            self::assertSame(0600, fileperms($file) & 0777);
        }
        touch($this->folder . '/' . hash('sha256', 'old'), time() - 86401);
        $store->sweep();
        self::assertSame([hash('sha256', 'young')], array_map('basename', glob($this->folder . '/*')));
        self::assertEquals(self::reply('c'), $store->once('old', fn () => self::reply('c')));
    }

    public function testAReplyThatWasCutShortIsNone(): void
    {
        $store = new FileReplyStore($this->folder);
        $store->once('k', fn () => self::reply('a'));
        $file = $this->folder . '/' . hash('sha256', 'k');
        file_put_contents($file, substr((string) file_get_contents($file), 0, 20));
        self::assertEquals(self::reply('b'), $store->once('k', fn () => self::reply('b')));
    }

    public function testProcessesWithOneKeyWaitForTheFirst(): void
    {
        mkdir($this->folder);
        $calls = $this->folder . '/calls';
        $said = $this->folder . '/said';
        $this->inProcesses(8, function () use ($calls, $said): void {
            $reply = (new FileReplyStore($this->folder . '/replies'))->once('k', function () use ($calls): Reply {
                file_put_contents($calls, getmypid() . "\n", FILE_APPEND | LOCK_EX);
                usleep(100_000);
                return self::reply((string) getmypid());
            });
            file_put_contents($said, $reply->body . "\n", FILE_APPEND | LOCK_EX);
        });
        self::assertCount(1, file($calls));
        self::assertSame(array_fill(0, 8, file($calls)[0]), file($said));
    }

    public function testWhoDiesWhileAnsweringLeavesItToTheNext(): void
    {
        mkdir($this->folder);
        $store = new FileReplyStore($this->folder . '/replies');
        $this->inProcesses(1, fn () => $store->once('k', fn () => posix_kill(posix_getpid(), SIGKILL)));
        self::assertEquals(self::reply('a'), $store->once('k', fn () => self::reply('a')));
    }

    private function inProcesses(int $count, \Closure $do): void
    {
        $children = [];
        for ($i = 0; $i < $count; $i++) {
            $child = pcntl_fork();
            if ($child === 0) {
                $do();
                posix_kill(posix_getpid(), SIGKILL);
            }
            $children[] = $child;
        }
        foreach ($children as $child) {
            pcntl_waitpid($child, $status);
        }
    }

    private static function reply(string $body, bool $final = true): Reply
    {
        return new Reply(201, $body, 'req_1', 'f', $final, ['a' => 'b']);
    }
}
