<?php

declare(strict_types=1);

namespace Pingpost\Tests;

use PHPUnit\Framework\TestCase;

/** Every code block of README.md, as it stands there, against the real exchange. */
final class ReadmeTest extends TestCase
{
    private static string $folder;
    private static Process $buyer;
    private static Process $hooks;
    private static string $hooksAt;
    private static Exchange $exchange;

    /** @var array<string, bool> the blocks by their file names; whether a test has run them */
    private static array $ran = [];

    public static function setUpBeforeClass(): void
    {
        self::$folder = sys_get_temp_dir() . '/pingpost-php-' . bin2hex(random_bytes(8));
        mkdir(self::$folder . '/vendor', 0700, true);
        $autoload = var_export(__DIR__ . '/autoload.php', true);
        file_put_contents(self::$folder . '/vendor/autoload.php', "<?php require $autoload;\n");
        preg_match_all('/^```(\w*)\n(.*?)^```$/ms', (string) file_get_contents(__DIR__ . '/../README.md'), $blocks);
        foreach ($blocks[2] as $i => $code) {
            self::assertSame('php', $blocks[1][$i]);
            self::assertSame(1, preg_match('{^<\?php // (\w+\.php)}', $code, $name), $code);
            file_put_contents(self::$folder . "/$name[1]", $code);
            self::$ran[$name[1]] = false;
        }
        [$buyer, $hooks] = [Process::freePlace(), Process::freePlace()];
        self::$buyer = self::serve('buyer.php', $buyer, ['PINGPOST_BUYER_TOKEN' => 'token-of-blue']);
        self::$hooks = self::serve('hooks.php', $hooks, [
            'PINGPOST_WEBHOOK_SECRET' => 'whsec_b2YtYWNtZS1vZi1hY21lLW9mLWFjbWU=',
        ]);
        self::$hooksAt = "http://$hooks/";
        self::$exchange = new Exchange($buyer, $hooks);
    }

    public static function tearDownAfterClass(): void
    {
        self::$exchange->end();
        self::$buyer->end();
        self::$hooks->end();
        Process::remove(self::$folder);
    }

    public function testALeadIsSoldToTheBuyerAndGivenBack(): void
    {
        $said = self::said('supplier.php');
        self::assertMatchesRegularExpression('/^lead_\w+ ACCEPTED 10\n$/', $said);
        $lead = strtok($said, ' ');
        self::assertSame("$lead returned\n", self::said('report.php', $lead));

        $events = self::$folder . '/events';
        for ($try = 0; $try < 1000 && (!is_file($events) || count(file($events)) < 2); $try++) {
            usleep(10000);
        }
        self::assertSame("lead.posted $lead\nlead.returned $lead\n", file_get_contents($events));
    }

    public function testAPingIsBidForAndPosted(): void
    {
        self::assertMatchesRegularExpression('/^lead_\w+ 10 USD req_\w+\n$/', self::said('seller.php'));
        self::assertCount(1, glob(self::$folder . '/tokens/*'));
    }

    public function testAnErrorIsTold(): void
    {
        $said = self::said('errors.php');
        self::assertStringContainsString('phone: invalid_format, expected', $said);
        self::assertStringContainsString('first_name: missing_required, expected', $said);
    }

    public function testAHandlerOfAFrameworkAnswers(): void
    {
        self::assertStringStartsWith('200 {"auction_id":"auc_1","bid":{"amount":12.5,', self::said('handler.php'));
    }

    public function testAClientOfOnesOwnMakesLeadsUp(): void
    {
        self::assertSame("100\n", self::said('client.php'));
    }

    public function testAWebhookOfSomebodyElseIsRefused(): void
    {
        $before = (string) @file_get_contents(self::$folder . '/events');
        $answer = (new \GuzzleHttp\Client(['http_errors' => false]))->post(self::$hooksAt, [
            'headers' => ['X-Pingpost-Signature' => 't=' . time() . ',v1=' . str_repeat('0', 64)],
            'body' => '{}',
        ]);
        self::assertSame(400, $answer->getStatusCode());
        self::assertSame($before, (string) @file_get_contents(self::$folder . '/events'));
    }

    /** @depends testALeadIsSoldToTheBuyerAndGivenBack */
    public function testEveryBlockWasRun(): void
    {
        self::assertSame([], array_keys(self::$ran, false, true));
    }

    /** @param array<string, string> $environment */
    private static function serve(string $file, string $place, array $environment): Process
    {
        self::$ran[$file] = true;
        $process = new Process([PHP_BINARY, '-S', $place, self::$folder . "/$file"], $environment + [
            'PHP_CLI_SERVER_WORKERS' => '4',
        ]);
        $process->waitFor($place);
        return $process;
    }

    private static function said(string $file, string ...$arguments): string
    {
        self::$ran[$file] = true;
        $environment = [
            'PINGPOST_URL' => $file === 'client.php' ? self::$exchange->sandbox : self::$exchange->live,
            'PINGPOST_API_KEY' => 'key-of-acme',
            'PINGPOST_TOKEN' => 'token-of-acme',
            'PINGPOST_CLIENT_ID' => 'acme',
            'PINGPOST_CLIENT_SECRET' => 'secret-of-acme',
            'PINGPOST_BUYER_ID' => 'blue',
            'PINGPOST_BUYER_SECRET' => 'secret-of-blue',
        ];
        $command = [PHP_BINARY, '-d', 'display_errors=1', '-d', 'error_reporting=-1', $file, ...$arguments];
        $process = proc_open($command, [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes, self::$folder, $environment);
        $said = (string) stream_get_contents($pipes[1]);
        self::assertSame(0, proc_close($process), $said);
        return $said;
    }
}
