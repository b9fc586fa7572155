<?php

declare(strict_types=1);

namespace Pingpost\Tests;

use GuzzleHttp\Psr7\HttpFactory;
use Nyholm\Psr7\Factory\Psr17Factory;
use PHPUnit\Framework\TestCase;
use Pingpost\Client;
use Pingpost\Exception;
use Pingpost\Exception\ApiException;
use Pingpost\Exception\PingpostException;
use Pingpost\Exception\TimeoutException;
use Pingpost\Exception\TransportException;
use Pingpost\Exception\UsageException;
use Pingpost\Model\ErrorCode;
use Pingpost\Model\IngestRequest;
use Pingpost\Model\StatusChange;

final class ClientTest extends TestCase
{
    private const KEY = 'key-of-acme-7731';

    private const SOLD = [
        'status' => 201,
        'headers' => [
            'X-Request-Id' => 'req_1',
            'X-RateLimit-Limit' => '100',
            'X-RateLimit-Remaining' => '99',
            'X-RateLimit-Reset' => '1772471047',
        ],
        'body' => ['data' => [
            'id' => 'lead_1',
            'status' => 'ACCEPTED',
            'buyer_id' => 'buy_blue',
            'campaign_id' => 'cmp_auto',
            'price' => ['amount' => 9.64, 'currency' => 'USD'],
        ]],
    ];

    private const BUSY = [
        'status' => 503,
        'body' => ['error' => 'unavailable', 'message' => 'Not now.', 'request_id' => 'req_9'],
    ];

    private static Scripted $exchange;

    /** @var list<float> */
    private array $slept = [];

    public static function setUpBeforeClass(): void
    {
        self::$exchange = new Scripted(self::SOLD);
    }

    public static function tearDownAfterClass(): void
    {
        self::$exchange->end();
    }

    public function testLeadIsSentAndAnswered(): void
    {
        self::$exchange->does(self::SOLD);
        $sold = $this->supplier()->ingestLead(self::lead(additional: ['vehicle_count' => 2]), test: true);

        self::assertSame('lead_1', $sold->data->id);
        self::assertSame(9.64, $sold->data->price->amount);
        self::assertNull($sold->data->reason);
        self::assertSame(201, $sold->meta()->status);
        self::assertSame('req_1', $sold->meta()->requestId);
        self::assertFalse($sold->meta()->replayed);
        self::assertSame(99, $sold->meta()->rateLimit->remaining);

        [$request] = self::$exchange->requests();
        self::assertSame('POST /api/v1/ingest', "$request[method] $request[path]");
        self::assertSame(self::KEY, $request['headers']['x-api-key']);
        self::assertSame('1', $request['headers']['x-pingpost-test']);
        self::assertSame('application/json', $request['headers']['content-type']);
        self::assertStringStartsWith('pingpost-php/', $request['headers']['user-agent']);
        self::assertSame($sold->meta()->idempotencyKey, $request['headers']['idempotency-key']);
        self::assertMatchesRegularExpression(
            '/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/',
            $request['headers']['idempotency-key']
        );
        $body = json_decode($request['body'], true);
        self::assertSame(2, $body['vehicle_count']);
        self::assertArrayNotHasKey('zip', $body);
    }

    /** @return array<string, array{array<string, mixed>, class-string}> */
    public function retried(): array
    {
        $error = fn (int $status) => ['status' => $status, 'body' => [
            'error' => 'e', 'message' => 'm', 'request_id' => 'req_9',
        ]];
        return [
            '500' => [$error(500), Exception\ServerException::class],
            '502' => [$error(502), Exception\ServerException::class],
            '503' => [$error(503), Exception\ServerException::class],
            '504' => [$error(504), Exception\ServerException::class],
            '429' => [$error(429), Exception\RateLimitedException::class],
            'dropped' => [['drop' => true], TransportException::class],
            'cut' => [['cut' => 10] + self::SOLD, TransportException::class],
        ];
    }

    /**
     * @dataProvider retried
     * @param array<string, mixed> $failure
     */
    public function testWhatPassesIsTriedAgainAsItWas(array $failure): void
    {
        self::$exchange->does($failure, $failure, $failure, self::SOLD);
        $sold = $this->supplier()->ingestLead(self::lead());

        self::assertSame('lead_1', $sold->data->id);
        $this->assertSlept([1, 2, 4]);
        $requests = self::$exchange->requests();
        self::assertCount(4, $requests);
        self::assertCount(1, array_unique(array_column($requests, 'body')));
        $keys = array_unique(array_column(array_column($requests, 'headers'), 'idempotency-key'));
        self::assertSame([$sold->meta()->idempotencyKey], $keys);
    }

    /**
     * @dataProvider retried
     * @param array<string, mixed> $failure
     * @param class-string $class
     */
    public function testAfterFiveRetriesItIsTheErrorOfTheLast(array $failure, string $class): void
    {
        self::$exchange->does($failure);
        $error = $this->failing(fn () => $this->supplier()->ingestLead(self::lead()));

        self::assertInstanceOf($class, $error);
        $this->assertSlept([1, 2, 4, 8, 16]);
        self::assertCount(6, self::$exchange->requests());
        self::assertSame(self::$exchange->requests()[0]['headers']['idempotency-key'], $error->idempotencyKey);
    }

    public function testARetryDoesNotTrustTheConnectionOfTheTryBefore(): void
    {
        self::$exchange->does(['keep' => true] + self::BUSY, ['drop' => true], self::SOLD);
        $this->supplier()->ingestLead(self::lead());
        $this->assertSlept([1, 2]);
        self::assertCount(3, self::$exchange->requests());
    }

    /** @return array<int, array{int, class-string}> */
    public function final(): array
    {
        return [
            [307, ApiException::class],
            [400, Exception\InvalidRequestException::class],
            [401, Exception\UnauthorizedException::class],
            [403, Exception\ForbiddenException::class],
            [404, Exception\NotFoundException::class],
            [405, ApiException::class],
            [408, ApiException::class],
            [409, Exception\ConflictException::class],
            [410, Exception\ExpiredException::class],
            [413, ApiException::class],
            [422, Exception\InvalidRequestException::class],
        ];
    }

    /**
     * @dataProvider final
     * @param class-string $class
     */
    public function testNoOtherErrorIsTriedAgain(int $status, string $class): void
    {
        self::$exchange->does([
            'status' => $status,
            'headers' => ['Retry-After' => '1', 'Location' => self::$exchange->url . '/elsewhere'],
            'body' => ['error' => 'new_code', 'message' => 'New.', 'request_id' => 'req_4'],
        ]);
        $error = $this->failing(fn () => $this->supplier()->ingestLead(self::lead()));

        self::assertSame($class, $error::class);
        self::assertSame($status, $error->status);
        self::assertSame('new_code', $error->errorCode);
        self::assertSame('req_4', $error->requestId);
        self::assertSame([], $this->slept);
        self::assertCount(1, self::$exchange->requests());
    }

    public function testFieldErrorsAreTyped(): void
    {
        self::$exchange->does(['status' => 422, 'body' => [
            'error' => 'invalid_payload',
            'message' => 'Two members are at fault.',
            'request_id' => 'req_5',
            'field_errors' => [
                ['field' => 'phone', 'code' => 'invalid_format', 'expected' => 'a phone number'],
                ['field' => 'x', 'code' => 'newer', 'expected' => 'y', 'more' => true],
            ],
        ]]);
        $error = $this->failing(fn () => $this->supplier()->ingestLead(self::lead(), idempotencyKey: 'mine-1'));

        self::assertInstanceOf(Exception\InvalidRequestException::class, $error);
        self::assertSame(ErrorCode::INVALID_PAYLOAD, $error->errorCode);
        self::assertSame('phone', $error->fieldErrors[0]->field);
        self::assertSame('newer', $error->fieldErrors[1]->code);
        self::assertSame('mine-1', $error->idempotencyKey);
        self::assertStringContainsString('phone (invalid_format)', $error->getMessage());
        self::assertStringContainsString('req_5', $error->getMessage());
    }

    /** @return array<string, array{string, list<int>}> */
    public function retryAfter(): array
    {
        return [
            'seconds' => ['7', [7]],
            'none' => ['0', [0]],
            'years' => ['999999999', [3600]],
            'a date in years' => ['Fri, 01 Jan 2100 00:00:00 GMT', [3600]],
            'nonsense' => ['soon', [1]],
            'negative' => ['-5', [1]],
            'a date that is over' => ['Mon, 02 Mar 2020 17:04:05 GMT', [0]],
        ];
    }

    /**
     * @dataProvider retryAfter
     * @param list<int> $waits
     */
    public function testRetryAfterIsKept(string $value, array $waits): void
    {
        self::$exchange->does(['headers' => ['Retry-After' => $value]] + self::BUSY, self::SOLD);
        $this->supplier()->ingestLead(self::lead());
        $this->assertSlept($waits);
    }

    public function testRetryAfterMayBeADate(): void
    {
        $date = gmdate('D, d M Y H:i:s \G\M\T', time() + 3600);
        self::$exchange->does(['headers' => ['Retry-After' => $date]] + self::BUSY, self::SOLD);
        $this->supplier()->ingestLead(self::lead());
        self::assertCount(1, $this->slept);
        self::assertEqualsWithDelta(3600, $this->slept[0], 120);
    }

    public function testSlowAnswerIsATimeout(): void
    {
        // One of its own: what it was sent may be written down after the client has gone.
        $slow = new Scripted(['delay' => 600] + self::SOLD);
        $client = $this->supplier(baseUrl: $slow->url, maxRetries: 1);
        $error = $this->failing(fn () => $client->ingestLead(self::lead(), timeout: 0.2));
        $slow->end();

        self::assertInstanceOf(TimeoutException::class, $error);
        self::assertNotNull($error->idempotencyKey);
        $this->assertSlept([1]);
    }

    public function testNobodyListening(): void
    {
        $client = $this->supplier(baseUrl: 'http://' . Process::freePlace());
        $error = $this->failing(fn () => $client->ingestLead(self::lead()));

        self::assertSame(TransportException::class, $error::class);
        self::assertNotNull($error->idempotencyKey);
        $this->assertSlept([1, 2, 4, 8, 16]);
    }

    public function testAnAnswerThatCannotBeReadIsNone(): void
    {
        foreach (['<html></html>', '[]', '{"data": {"id": 7}}'] as $text) {
            self::$exchange->does(['status' => 201, 'text' => $text]);
            $error = $this->failing(fn () => $this->supplier()->ingestLead(self::lead()));
            self::assertInstanceOf(TransportException::class, $error, $text);
            self::assertNotNull($error->idempotencyKey, $text);
        }
    }

    public function testAnErrorThatIsNoneOfTheExchange(): void
    {
        foreach (['<html></html>', '', '[1]', '{"error": {"a": 1}, "field_errors": [1]}'] as $text) {
            self::$exchange->does(['status' => 404, 'headers' => ['X-Request-Id' => 'req_7'], 'text' => $text]);
            $error = $this->failing(fn () => $this->supplier()->ingestLead(self::lead()));
            self::assertInstanceOf(Exception\NotFoundException::class, $error, $text);
            self::assertNull($error->errorCode, $text);
            self::assertSame('req_7', $error->requestId, $text);
        }
    }

    public function testWhatIsNewInAnAnswerIsKept(): void
    {
        $body = self::SOLD['body'];
        $body['data'] = ['status' => 'HELD_BACK', 'reason' => 'brand_new', 'more' => ['a' => [1]]] + $body['data'];
        self::$exchange->does(['body' => $body] + self::SOLD);
        $sold = $this->supplier()->ingestLead(self::lead());

        self::assertSame('HELD_BACK', $sold->data->status);
        self::assertSame(['more' => ['a' => [1]]], $sold->data->additional());
        self::assertEquals($body, $sold->toArray());
    }

    public function testReportsAndReadingGoToTheirPaths(): void
    {
        $client = new Client(self::$exchange->url . '/below/', token: 'sandbox-token', sleep: $this->sleep());
        self::$exchange->does(['status' => 200, 'body' => ['lead_id' => 'a/b?c', 'status' => 'returned']]);
        $answer = $client->reportStatus('a/b?c', new StatusChange(status: 'returned', reason: 'wrong_number'));
        self::assertSame('returned', $answer->status);

        [$request] = self::$exchange->requests();
        self::assertSame('/below/v1/leads/a%2Fb%3Fc/status', $request['path']);
        self::assertSame('Bearer sandbox-token', $request['headers']['authorization']);
        self::assertArrayNotHasKey('x-api-key', $request['headers']);
        self::assertSame('{"status":"returned","reason":"wrong_number"}', $request['body']);
    }

    public function testAnyClientOfPsr18AndAnyFactoryWillDo(): void
    {
        self::$exchange->does(self::BUSY, self::SOLD);
        $guzzle = new \GuzzleHttp\Client(['timeout' => 30]);
        $plain = new class ($guzzle) implements \Psr\Http\Client\ClientInterface {
            public function __construct(private readonly \GuzzleHttp\Client $guzzle)
            {
            }

            public function sendRequest(
                \Psr\Http\Message\RequestInterface $request
            ): \Psr\Http\Message\ResponseInterface {
                return $this->guzzle->sendRequest($request);
            }
        };
        $factory = new Psr17Factory();
        $client = $this->supplier(httpClient: $plain, requestFactory: $factory, streamFactory: $factory);
        self::assertSame('lead_1', $client->ingestLead(self::lead())->data->id);
        self::assertCount(2, self::$exchange->requests());

        self::$exchange->does(['drop' => true]);
        $client = $this->supplier(httpClient: $plain, requestFactory: new HttpFactory(), maxRetries: 0);
        $error = $this->failing(fn () => $client->ingestLead(self::lead()));
        self::assertSame(TransportException::class, $error::class);
    }

    /** @return array<string, array{array<string, mixed>}> */
    public function impossible(): array
    {
        $url = ['baseUrl' => 'https://exchange.example.com'];
        return [
            'no credential' => [$url],
            'two credentials' => [$url + ['apiKey' => 'a', 'token' => 'b']],
            'half a client' => [$url + ['clientId' => 'a']],
            'an empty key' => [$url + ['apiKey' => '']],
            'a key of two lines' => [$url + ['apiKey' => "a\nb"]],
            'scopes without a client' => [$url + ['apiKey' => 'a', 'scopes' => ['ping']]],
            'no address' => [['baseUrl' => 'exchange.example.com', 'apiKey' => 'a']],
            'another scheme' => [['baseUrl' => 'ftp://exchange.example.com', 'apiKey' => 'a']],
            'a password in the address' => [['baseUrl' => 'https://u:p@exchange.example.com', 'apiKey' => 'a']],
            'no time at all' => [$url + ['apiKey' => 'a', 'timeout' => 0.0]],
            'fewer than no retries' => [$url + ['apiKey' => 'a', 'maxRetries' => -1]],
        ];
    }

    /**
     * @dataProvider impossible
     * @param array<string, mixed> $options
     */
    public function testAnImpossibleClientIsRefused(array $options): void
    {
        $this->expectException(UsageException::class);
        new Client(...$options);
    }

    public function testACallThatTheCredentialDoesNotOpenIsNotSent(): void
    {
        self::$exchange->does(self::SOLD);
        $supplier = $this->supplier();
        $seller = new Client(self::$exchange->url, token: 't');
        foreach (
            [
                fn () => $supplier->getLead('lead_1'),
                fn () => $seller->ingestLead(self::lead()),
                fn () => $supplier->getSuppliedLead('..'),
                fn () => $supplier->getSuppliedLead(''),
                fn () => $supplier->ingestLead(self::lead(), idempotencyKey: ''),
                fn () => $supplier->ingestLead(self::lead(), idempotencyKey: "a\r\nb: c"),
                fn () => $supplier->ingestLead(self::lead(), timeout: -1.0),
                fn () => $supplier->ingestLead(['first_name' => "\xff"]),
            ] as $call
        ) {
            self::assertInstanceOf(UsageException::class, $this->failing($call));
        }
        self::assertSame([], self::$exchange->requests());
    }

    public function testNothingSecretIsShown(): void
    {
        self::$exchange->does(['drop' => true]);
        $client = $this->supplier(maxRetries: 0);
        $error = $this->failing(fn () => $client->ingestLead(self::lead()));
        $shown = $error . print_r($client, true) . print_r(self::lead(), true);
        foreach (['key-of-acme', 'Annabel', 'Canaryson', '5550123', 'annabel.canary'] as $secret) {
            self::assertStringNotContainsString($secret, $shown);
        }
        self::assertNull($error->getPrevious());

        // The trace shows arguments, but for those that are marked as sensitive (from PHP 8.2 on).
        $settings = ['zend.exception_ignore_args' => '0', 'zend.exception_string_param_max_len' => '15'];
        $before = array_map('ini_get', array_combine(array_keys($settings), array_keys($settings)));
        array_map('ini_set', array_keys($settings), $settings);
        $shown = (string) $this->failing(fn () => $this->supplier(token: 'token-of-acme'));
        array_map('ini_set', array_keys($before), $before);
        self::assertStringContainsString("Client->__construct('http", $shown);
        self::assertDoesNotMatchRegularExpression("/__construct.*('key-of|'token-of)/", $shown);
    }

    private static function lead(mixed ...$more): IngestRequest
    {
        return new IngestRequest(...$more + [
            'floCampaignId' => 'cmp_auto',
            'floSupplierId' => 'sup_acme',
            'firstName' => 'Annabel',
            'lastName' => 'Canaryson',
            'phone' => '+14155550123',
            'email' => 'annabel.canary@example.com',
            'state' => 'CA',
        ]);
    }

    private function supplier(mixed ...$options): Client
    {
        return new Client(...$options + [
            'baseUrl' => self::$exchange->url,
            'apiKey' => self::KEY,
            'sleep' => $this->sleep(),
        ]);
    }

    private function sleep(): \Closure
    {
        return function (float $seconds): void {
            $this->slept[] = $seconds;
        };
    }

    /** @param list<int> $waits each of which may have been a tenth longer */
    private function assertSlept(array $waits): void
    {
        self::assertCount(count($waits), $this->slept);
        foreach ($waits as $i => $wait) {
            self::assertGreaterThanOrEqual($wait, $this->slept[$i]);
            self::assertLessThanOrEqual($wait * 1.1, $this->slept[$i]);
        }
    }

    private function failing(\Closure $call): PingpostException
    {
        try {
            $call();
        } catch (PingpostException $e) {
            return $e;
        }
        self::fail('nothing was thrown');
    }
}
