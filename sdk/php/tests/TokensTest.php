<?php

declare(strict_types=1);

namespace Pingpost\Tests;

use PHPUnit\Framework\TestCase;
use Pingpost\Client;
use Pingpost\Exception\ApiException;
use Pingpost\Exception\InvalidRequestException;
use Pingpost\Exception\UnauthorizedException;
use Pingpost\FileTokenStore;
use Pingpost\MemoryTokenStore;
use Pingpost\Model\Lead;
use Pingpost\Token;

final class TokensTest extends TestCase
{
    private const TOKEN = ['status' => 200, 'body' => [
        'access_token' => 'pp_1', 'token_type' => 'Bearer', 'expires_in' => 3600, 'scope' => 'ping',
    ]];

    private const LEAD = ['status' => 200, 'body' => [
        'id' => 'lead_1', 'status' => 'ACCEPTED', 'campaign_id' => 'c', 'auction_id' => null, 'buyer_id' => null,
        'price' => null, 'reason' => null, 'delivery' => 'none', 'created_at' => '2026-03-02T17:04:05Z',
    ]];

    private const UNAUTHORIZED = ['status' => 401, 'body' => [
        'error' => 'unauthorized', 'message' => 'm', 'request_id' => 'req_401',
    ]];

    private static Scripted $exchange;

    private string $folder;

    public static function setUpBeforeClass(): void
    {
        self::$exchange = new Scripted(self::TOKEN);
    }

    public static function tearDownAfterClass(): void
    {
        self::$exchange->end();
    }

    protected function setUp(): void
    {
        $this->folder = sys_get_temp_dir() . '/pingpost-php-' . bin2hex(random_bytes(8));
        mkdir($this->folder);
    }

    protected function tearDown(): void
    {
        Process::remove($this->folder);
    }

    public function testOneTokenForAllCallsAndNoneBefore(): void
    {
        self::$exchange->does(self::TOKEN, self::LEAD);
        $client = $this->client(scopes: ['ping', 'post']);
        self::assertSame([], self::$exchange->requests());
        $client->getLead('lead_1');
        $client->getLead('lead_1');

        $requests = self::$exchange->requests();
        self::assertSame(['/oauth/token', '/v1/leads/lead_1', '/v1/leads/lead_1'], array_column($requests, 'path'));
        self::assertSame(
            '{"grant_type":"client_credentials","client_id":"acme","client_secret":"secret-1","scope":"ping post"}',
            $requests[0]['body']
        );
        self::assertArrayNotHasKey('idempotency-key', $requests[0]['headers']);
        self::assertArrayNotHasKey('authorization', $requests[0]['headers']);
        self::assertSame('Bearer pp_1', $requests[2]['headers']['authorization']);
        self::assertArrayNotHasKey('idempotency-key', $requests[2]['headers']);
    }

    public function testATokenIsRenewedWhenNineTenthsOfItsTimeAreOver(): void
    {
        foreach ([new MemoryTokenStore(), new FileTokenStore($this->folder)] as $store) {
            $made = 0;
            $at = function (float $now) use ($store, &$made): string {
                $fetch = function () use ($now, &$made): Token {
                    return Token::lasting('pp_' . ++$made, 100, $now);
                };
                return $store->token('acme', $now, $fetch)->value;
            };
            self::assertSame(['pp_1', 'pp_1', 'pp_2', 'pp_2', 'pp_3'], [
                $at(1000), $at(1089.9), $at(1090), $at(1179), $at(2000),
            ]);
        }
    }

    public function testARefusedTokenIsReplacedOnce(): void
    {
        $second = self::TOKEN;
        $second['body']['access_token'] = 'pp_2';
        self::$exchange->does(self::TOKEN, self::UNAUTHORIZED, $second, self::LEAD);
        self::assertSame('lead_1', $this->client()->getLead('lead_1')->id);
        $requests = self::$exchange->requests();
        self::assertSame('Bearer pp_1', $requests[1]['headers']['authorization']);
        self::assertSame('Bearer pp_2', $requests[3]['headers']['authorization']);

        self::$exchange->does(self::TOKEN, self::UNAUTHORIZED, $second, self::UNAUTHORIZED);
        $this->assertFails(UnauthorizedException::class, fn () => $this->client()->getLead('lead_1'));
        self::assertCount(4, self::$exchange->requests());
    }

    public function testAStaticTokenIsNotReplaced(): void
    {
        self::$exchange->does(self::UNAUTHORIZED);
        $client = new Client(self::$exchange->url, token: 't');
        $this->assertFails(UnauthorizedException::class, fn () => $client->getLead('lead_1'));
        self::assertCount(1, self::$exchange->requests());
    }

    public function testWhatTheTokenEndpointRefusesIsTheErrorOfTheCall(): void
    {
        self::$exchange->does(['status' => 400, 'body' => [
            'error' => 'invalid_scope', 'error_description' => 'Not yours.', 'message' => 'Not yours.',
            'request_id' => 'req_2',
        ]]);
        $error = $this->assertFails(
            InvalidRequestException::class,
            fn () => $this->client()->sendPing(['auction_id' => 'a'], idempotencyKey: 'mine')
        );
        self::assertSame('invalid_scope', $error->errorCode);
        self::assertSame('Not yours.', $error->errorDescription);
        self::assertSame('mine', $error->idempotencyKey);
        self::assertStringNotContainsString('secret-1', (string) $error);
    }

    public function testFetchingIsTriedAgain(): void
    {
        $busy = ['status' => 503, 'headers' => ['Retry-After' => '0'], 'body' => ['error' => 'unavailable']];
        self::$exchange->does($busy, ['drop' => true], self::TOKEN, self::LEAD);
        self::assertInstanceOf(Lead::class, $this->client()->getLead('lead_1'));
        $requests = self::$exchange->requests();
        self::assertCount(4, $requests);
        self::assertSame($requests[0]['body'], $requests[2]['body']);
    }

    public function testProcessesThatShareAFolderShareATokenAndOneFetchesIt(): void
    {
        self::$exchange->does(['delay' => 0.5] + self::TOKEN, self::LEAD);
        $children = [];
        for ($i = 0; $i < 6; $i++) {
            $child = pcntl_fork();
            if ($child === 0) {
                $this->client(tokenStore: new FileTokenStore($this->folder))->getLead('lead_1');
                posix_kill(posix_getpid(), SIGKILL);
            }
            $children[] = $child;
        }
        foreach ($children as $child) {
            pcntl_waitpid($child, $status);
        }
        $paths = array_count_values(array_column(self::$exchange->requests(), 'path'));
        self::assertEquals(['/oauth/token' => 1, '/v1/leads/lead_1' => 6], $paths);
        foreach (glob($this->folder . '/*') as $file) {
            self::assertSame(0600, fileperms($file) & 0777);
        }
    }

    public function testTwoClientsInOneFolderDoNotGetEachOthersTokens(): void
    {
        $store = new FileTokenStore($this->folder);
        $second = self::TOKEN;
        $second['body']['access_token'] = 'pp_2';
        self::$exchange->does(self::TOKEN, self::LEAD, $second, self::LEAD);
        $this->client(tokenStore: $store)->getLead('lead_1');
        $this->client(tokenStore: $store, clientSecret: 'secret-2')->getLead('lead_1');
        self::assertSame('Bearer pp_2', self::$exchange->requests()[3]['headers']['authorization']);
    }

    private function client(mixed ...$options): Client
    {
        return new Client(...$options + [
            'baseUrl' => self::$exchange->url,
            'clientId' => 'acme',
            'clientSecret' => 'secret-1',
            'sleep' => static function (): void {
            },
        ]);
    }

    /** @param class-string $class */
    private function assertFails(string $class, \Closure $call): ApiException
    {
        try {
            $call();
        } catch (ApiException $e) {
            self::assertSame($class, $e::class);
            return $e;
        }
        self::fail('nothing was thrown');
    }
}
