<?php

declare(strict_types=1);

namespace Pingpost\Tests;

use GuzzleHttp\Psr7\ServerRequest;
use Nyholm\Psr7\Factory\Psr17Factory;
use PHPUnit\Framework\TestCase;
use Pingpost\Buyer\Access;
use Pingpost\Buyer\Bid;
use Pingpost\Buyer\Endpoint;
use Pingpost\Buyer\Incoming;
use Pingpost\Buyer\MemoryReplyStore;
use Pingpost\Buyer\NoBid;
use Pingpost\Buyer\Refusal;
use Pingpost\Exception\UsageException;
use Pingpost\Model\LeadDelivery;
use Pingpost\Model\PingRequest;
use Psr\Http\Message\ResponseInterface;

final class EndpointTest extends TestCase
{
    private const PING = ['auction_id' => 'auc_1', 'vertical' => 'auto', 'state' => 'CA', 'tcpa_consent' => true];
    private const LEAD = [
        'lead_uuid' => 'lead_1',
        'first_name' => 'Annabel',
        'last_name' => 'Canaryson',
        'email' => 'annabel.canary@example.com',
        'phone' => '+14155550123',
    ];
    private const POST = ['auction_id' => 'auc_1', 'bid_token' => 't1', 'lead' => self::LEAD];

    /** What the functions return, or throw. */
    private mixed $bids = null;
    private mixed $takes = 'B-1';

    /** @var list<array{PingRequest|LeadDelivery, Incoming}> what they were given */
    private array $given = [];

    /** @var list<\Throwable> */
    private array $errors = [];

    private float $now = 1772471047.25;

    public function testABid(): void
    {
        $this->bids = new Bid(12.5, 'USD');
        $answer = $this->send('/v1/ping', self::PING + ['vehicle_count' => 2], [
            'X-Pingpost-Test' => '1', 'X-Pingpost-Hops' => '2', 'X-Request-Id' => 'req_7',
        ]);
        $body = $this->body(200, $answer);

        self::assertSame('auc_1', $body['auction_id']);
        self::assertSame(12.5, $body['bid']['amount']);
        self::assertSame('USD', $body['bid']['currency']);
        self::assertMatchesRegularExpression('/^bid_[0-9a-f]{32}$/', $body['bid']['bid_token']);
        self::assertSame('2026-03-02T17:04:12.250Z', $body['bid']['valid_until']);
        self::assertSame('req_7', $answer->getHeaderLine('X-Request-Id'));
        [[$ping, $incoming]] = $this->given;
        self::assertSame(['vehicle_count' => 2], ['vehicle_count' => $ping->vehicleCount]);
        self::assertEquals(new Incoming('k1', true, 'req_7', 2), $incoming);
    }

    public function testABidAsItsFunctionSaysIt(): void
    {
        $until = new \DateTimeImmutable('2026-03-02T18:04:08.25+01:00');
        $this->bids = new Bid(0.1 + 0.2, token: 'tok-1', validUntil: $until, filtersPassed: ['state', 'tcpa']);
        self::assertSame(
            '{"auction_id":"auc_1","bid":{"amount":0.3,"bid_token":"tok-1","valid_until":"2026-03-02T17:04:08.250Z"},'
            . '"buyer_filters_passed":["state","tcpa"]}',
            (string) $this->send('/v1/ping', self::PING)->getBody()
        );
    }

    public function testNoBid(): void
    {
        $this->bids = new NoBid('state', 'Not from there.');
        $answer = $this->body(200, $this->send('/v1/ping', self::PING));
        self::assertSame(
            ['auction_id' => 'auc_1', 'bid' => null, 'reject_reason' => 'state', 'reject_detail' => 'Not from there.'],
            $answer
        );
    }

    /** @return array<string, array{?string, float, string|null}> expires_at, how long the function takes, its reason */
    public function deadlines(): array
    {
        return [
            'in time' => ['2026-03-02T17:04:09.25Z', 1.9, null],
            'too late' => ['2026-03-02T17:04:09.25Z', 2.1, 'timeout'],
            'another offset' => ['2026-03-02T12:04:09.250000000-05:00', 1.9, null],
            'five seconds, where none is told' => [null, 4.9, null],
            'more than that' => [null, 5.1, 'timeout'],
            'no more than that, whatever is told' => ['2026-03-02T17:05:07Z', 5.1, 'timeout'],
            'over already' => ['2026-03-02T17:04:07.2Z', 0.0, 'timeout'],
        ];
    }

    /** @dataProvider deadlines */
    public function testABidThatComesTooLateIsNone(?string $expires, float $takes, ?string $reason): void
    {
        $this->bids = function () use ($takes): Bid {
            $this->now += $takes;
            return new Bid(1);
        };
        $ping = self::PING + ($expires === null ? [] : ['expires_at' => $expires]);
        $answer = $this->body(200, $this->send('/v1/ping', $ping));
        self::assertSame($reason, $answer['reject_reason'] ?? null);
        self::assertSame($reason === null, isset($answer['bid']));
    }

    public function testALeadIsTaken(): void
    {
        $lead = self::LEAD + ['address' => ['zip' => '94105'], 'homeowner' => true];
        $answer = $this->send('/v1/post', ['lead' => $lead] + self::POST);
        self::assertSame(['auction_id' => 'auc_1', 'lead_id' => 'B-1'], $this->body(201, $answer));
        [[$delivery]] = $this->given;
        self::assertSame('94105', $delivery->lead->address->zip);
        self::assertSame(['homeowner' => true], $delivery->lead->additional());

        foreach ([[7, '7'], [null, null]] as [$this->takes, $id]) {
            $answer = $this->body(201, $this->send('/v1/post', ['auction_id' => 'lead_1', 'lead' => self::LEAD], [
                'Idempotency-Key' => "k-$id",
            ]));
            self::assertSame($id, $answer['lead_id'] ?? null);
        }
    }

    public function testALeadIsRefused(): void
    {
        $this->takes = new Refusal('duplicate', 'We have it.');
        $answer = $this->send('/v1/post', self::POST, ['X-Request-Id' => 'req_7']);
        self::assertSame(
            ['error' => 'post_rejected', 'message' => 'We have it.', 'request_id' => 'req_7', 'reason' => 'duplicate'],
            $this->body(422, $answer)
        );
    }

    public function testAPostThatComesAgainIsAnsweredAsAtFirst(): void
    {
        $first = $this->send('/v1/post', self::POST, ['X-Request-Id' => 'req_1']);
        $this->takes = new Refusal('duplicate');
        $again = $this->send('/v1/post', self::POST, ['X-Request-Id' => 'req_2', 'Idempotency-Key' => '"k1"']);

        self::assertSame((string) $first->getBody(), (string) $again->getBody());
        self::assertSame(201, $again->getStatusCode());
        self::assertSame('req_1', $again->getHeaderLine('X-Request-Id'));
        self::assertSame('true', $again->getHeaderLine('Idempotent-Replayed'));
        self::assertSame('', $first->getHeaderLine('Idempotent-Replayed'));
        self::assertCount(1, $this->given);

        $this->send('/v1/post', self::POST, ['Idempotency-Key' => 'k2']);
        $this->takes = 'B-2';
        $this->body(422, $this->send('/v1/post', self::POST, ['Idempotency-Key' => 'k2']));
        self::assertCount(2, $this->given, 'a refusal stands as well');

        $other = $this->send('/v1/post', ['auction_id' => 'auc_2'] + self::POST);
        self::assertSame('idempotency_key_reused', $this->body(422, $other)['error']);
        self::assertCount(2, $this->given);
    }

    public function testAFunctionThatFailsIsToldToNobodyAndTriedAgain(): void
    {
        $failures = [new \RuntimeException('annabel.canary@example.com'), new \TypeError('x'), 3.5];
        foreach ($failures as $this->takes) {
            $answer = $this->send('/v1/post', self::POST);
            self::assertSame('internal', $this->body(500, $answer)['error']);
            self::assertStringNotContainsString('annabel', (string) $answer->getBody());
        }
        self::assertSame($failures[0], $this->errors[0]);
        $this->takes = 'B-1';
        $this->body(201, $this->send('/v1/post', self::POST));
        self::assertCount(4, $this->given);

        $invalid = [fn () => new Bid(-1), fn () => new Bid(0), fn () => new Bid(0.0000009)];
        foreach ([new \RuntimeException('x'), 12.5, ...$invalid] as $this->bids) {
            self::assertSame('internal', $this->body(500, $this->send('/v1/ping', self::PING))['error']);
        }
    }

    /** @return array<string, array{int, string, string, string, mixed, array<string, string>}> */
    public function refused(): array
    {
        $type = fn (string $type) => ['Content-Type' => $type];
        $long = self::PING + ['long' => str_repeat('x', 66000)];
        $deep = str_repeat('{"a":', 33) . '1' . str_repeat('}', 33);
        return [
            'no such path' => [404, 'not_found', 'POST', '/v1/pings', self::PING, []],
            'below it' => [404, 'not_found', 'POST', '/v1/ping/more', self::PING, []],
            'without a prefix' => [404, 'not_found', 'GET', '/', self::PING, []],
            'another method' => [405, 'method_not_allowed', 'GET', '/v1/ping', null, []],
            'another method to post' => [405, 'method_not_allowed', 'PUT', '/v1/post', self::POST, []],
            'too large' => [413, 'payload_too_large', 'POST', '/v1/ping', $long, []],
            'too large and of another type' => [413, 'payload_too_large', 'POST', '/v1/ping', $long, $type('text/x')],
            'another type' => [415, 'unsupported_media_type', 'POST', '/v1/ping', self::PING, $type('text/plain')],
            'no type' => [415, 'unsupported_media_type', 'POST', '/v1/post', self::POST, $type('')],
            'half an object' => [400, 'malformed_json', 'POST', '/v1/ping', '{"auction_id": ', []],
            'a list' => [400, 'malformed_json', 'POST', '/v1/ping', '[1]', []],
            'nothing' => [400, 'malformed_json', 'POST', '/v1/post', '', []],
            'more behind it' => [400, 'malformed_json', 'POST', '/v1/ping', '{} {}', []],
            'no letters' => [400, 'malformed_json', 'POST', '/v1/ping', "{\"a\":\"\xff\"}", []],
            'too deep' => [400, 'malformed_json', 'POST', '/v1/ping', $deep, []],
        ];
    }

    /**
     * @dataProvider refused
     * @param array<string, string> $headers
     */
    public function testWhatIsNoPingOrPostIsRefused(
        int $status,
        string $error,
        string $method,
        string $path,
        mixed $body,
        array $headers,
    ): void {
        $answer = $this->send($path, $body, $headers, $method);
        $body = $this->body($status, $answer);
        self::assertSame($error, $body['error']);
        self::assertNotSame('', $body['message']);
        self::assertSame($answer->getHeaderLine('X-Request-Id'), $body['request_id']);
        self::assertMatchesRegularExpression('/^req_[0-9a-f]{26}$/', $body['request_id']);
        self::assertSame($status === 405 ? 'POST' : '', $answer->getHeaderLine('Allow'));
        self::assertSame([], $this->given);
    }

    /** @return array<string, array{string, array<string, mixed>, array<string, string>, array<string, string>}> */
    public function faulty(): array
    {
        $lead = fn (array $more) => ['lead' => $more + self::LEAD] + self::POST;
        $without = fn (string $name) => array_diff_key(self::PING, [$name => 1]);
        $missing = 'missing_required';
        return [
            'auction_id' => ['/v1/ping', $without('auction_id'), ['auction_id' => $missing], []],
            'vertical' => ['/v1/ping', $without('vertical'), ['vertical' => $missing], []],
            'state' => ['/v1/ping', $without('state'), ['state' => $missing], []],
            'consent' => ['/v1/ping', $without('tcpa_consent'), ['tcpa_consent' => $missing], []],
            'null' => ['/v1/ping', ['state' => null] + self::PING, ['state' => $missing], []],
            'blank' => ['/v1/ping', ['state' => ' '] + self::PING, ['state' => $missing], []],
            'type' => ['/v1/ping', ['tcpa_consent' => 'yes'] + self::PING, ['tcpa_consent' => 'wrong_type'], []],
            'optional type' => ['/v1/ping', ['vehicle_count' => 'two'] + self::PING, [
                'vehicle_count' => 'wrong_type',
            ], []],
            'time' => ['/v1/ping', ['expires_at' => 'soon'] + self::PING, ['expires_at' => 'invalid_format'], []],
            'no such time' => ['/v1/ping', ['expires_at' => '2026-13-02T17:04:08Z'] + self::PING, [
                'expires_at' => 'invalid_format',
            ], []],
            'lead' => ['/v1/post', ['auction_id' => 'a'], ['lead' => $missing], []],
            'no lead' => ['/v1/post', ['lead' => 'x'] + self::POST, ['lead' => 'wrong_type'], []],
            'some' => ['/v1/post', $lead(['phone' => null, 'email' => ' ']), [
                'lead.phone' => $missing, 'lead.email' => $missing,
            ], []],
            'address' => ['/v1/post', $lead(['address' => ['zip' => 94105]]), ['lead.address.zip' => 'wrong_type'], []],
            'no key' => ['/v1/ping', self::PING, ['Idempotency-Key' => $missing], ['Idempotency-Key' => '']],
            'a key of two words' => ['/v1/post', self::POST, ['Idempotency-Key' => 'invalid_format'], [
                'Idempotency-Key' => 'a b',
            ]],
            'a key that is too long' => ['/v1/post', self::POST, ['Idempotency-Key' => 'invalid_format'], [
                'Idempotency-Key' => str_repeat('k', 256),
            ]],
        ];
    }

    /**
     * @dataProvider faulty
     * @param array<string, mixed> $body
     * @param array<string, string> $faults
     * @param array<string, string> $headers
     */
    public function testMembersAtFaultAreNamed(string $path, array $body, array $faults, array $headers): void
    {
        $answer = $this->body(422, $this->send($path, $body, $headers));
        self::assertSame('invalid_payload', $answer['error']);
        self::assertEquals($faults, array_column($answer['field_errors'], 'code', 'field'));
        self::assertNotContains('', array_column($answer['field_errors'], 'expected'));
        self::assertSame([], $this->given);

        [$status, $right] = $path === '/v1/ping' ? [200, self::PING] : [201, self::POST];
        $this->body($status, $this->send($path, $right));
        self::assertCount(1, $this->given, 'and the key is not used up');
    }

    public function testWhateverIsSentIsAnsweredByTheContract(): void
    {
        mt_srand(11);
        $pieces = ['{', '}', '[', ']', '"', ',', ':', 'null', '1e999', '-0', '"\\u0000"', '99999999999999999999',
            "\xff", '"lead":', '"state":', 'true', '{"0":1}', '{}', '[]', "\0"];
        for ($i = 0; $i < 3000; $i++) {
            $body = json_encode($i % 2 === 0 ? self::PING : self::POST);
            for ($cuts = mt_rand(1, 3); $cuts > 0; $cuts--) {
                $piece = $pieces[mt_rand(0, count($pieces) - 1)];
                $body = substr_replace($body, $piece, mt_rand(0, strlen($body)), mt_rand(0, 6));
            }
            $this->bids = new Bid(1);
            $answer = $this->send($i % 2 === 0 ? '/v1/ping' : '/v1/post', $body, ['Idempotency-Key' => "k$i"]);
            self::assertContains($answer->getStatusCode(), [200, 201, 400, 422], $body);
            $this->body($answer->getStatusCode(), $answer);
        }
        self::assertSame([], $this->errors);
    }

    public function testOnlyWhoShowsTheSecretIsListenedTo(): void
    {
        $bearer = Access::bearer('old-secret', 'new-secret');
        $key = Access::apiKey('static-key');
        $cases = [
            [$bearer, [], 401],
            [$bearer, ['Authorization' => 'Bearer wrong'], 401],
            [$bearer, ['Authorization' => 'Bearer new-secretx'], 401],
            [$bearer, ['Authorization' => 'Basic new-secret'], 401],
            [$bearer, ['x-api-key' => 'new-secret'], 401],
            [$bearer, ['Authorization' => 'Bearer new-secret'], 200],
            [$bearer, ['Authorization' => 'bearer old-secret'], 200],
            [$key, [], 401],
            [$key, ['x-api-key' => 'static'], 401],
            [$key, ['Authorization' => 'Bearer static-key'], 401],
            [$key, ['X-API-Key' => 'static-key'], 200],
        ];
        foreach ($cases as [$access, $headers, $status]) {
            $answer = $this->send('/v1/ping', self::PING, $headers, access: $access);
            $this->body($status, $answer);
            $challenge = $status === 401 && $access === $bearer ? 'Bearer' : '';
            self::assertSame($challenge, $answer->getHeaderLine('WWW-Authenticate'));
        }
        self::assertStringNotContainsString('secret', print_r($bearer, true));
        $this->expectException(UsageException::class);
        Access::bearer('');
    }

    public function testItMayStandBelowAPathAndOnAnyFactory(): void
    {
        $factory = new Psr17Factory();
        $endpoint = new Endpoint(
            bid: fn () => new Bid(1),
            post: fn () => 'B-1',
            prefix: '/leads/',
            responseFactory: $factory,
            streamFactory: $factory,
        );
        $ask = fn (string $path) => $endpoint->handle(new ServerRequest('POST', $path, [
            'Content-Type' => 'Application/JSON; charset=utf-8', 'Idempotency-Key' => 'k',
        ], json_encode(self::PING)));
        $this->body(200, $ask('/leads/v1/ping'));
        $this->body(404, $ask('/v1/ping'));
    }

    public function testARepeatWithinTheFirstIsToldToComeAgain(): void
    {
        $inner = null;
        $endpoint = new Endpoint(
            bid: fn () => new Bid(1),
            post: function () use (&$endpoint, &$inner): string {
                $inner = $endpoint->handle($this->request('/v1/post', self::POST));
                return 'B-1';
            },
            replies: new MemoryReplyStore(),
        );
        $this->body(201, $endpoint->handle($this->request('/v1/post', self::POST)));
        self::assertSame('unavailable', $this->body(503, $inner)['error']);
        self::assertSame('1', $inner->getHeaderLine('Retry-After'));
    }

    /** @param array<string, string> $headers */
    private function send(
        string $path,
        mixed $body,
        array $headers = [],
        string $method = 'POST',
        ?Access $access = null,
    ): ResponseInterface {
        static $replies;
        $replies ??= new \WeakMap();
        $replies[$this] ??= new MemoryReplyStore();
        $endpoint = new Endpoint(
            bid: fn (PingRequest $ping, Incoming $with) => $this->acts($this->bids ?? new NoBid(), $ping, $with),
            post: fn (LeadDelivery $post, Incoming $with) => $this->acts($this->takes, $post, $with),
            access: $access,
            replies: $replies[$this],
            onError: function (\Throwable $e): void {
                $this->errors[] = $e;
            },
            clock: fn () => $this->now,
        );
        return $endpoint->handle($this->request($path, $body, $headers, $method));
    }

    private function acts(mixed $what, PingRequest|LeadDelivery $given, Incoming $incoming): mixed
    {
        $this->given[] = [$given, $incoming];
        return match (true) {
            $what instanceof \Throwable => throw $what,
            $what instanceof \Closure => $what(),
            default => $what,
        };
    }

    /** @param array<string, string> $headers */
    private function request(string $path, mixed $body, array $headers = [], string $method = 'POST'): ServerRequest
    {
        $headers += ['Content-Type' => 'application/json', 'Idempotency-Key' => 'k1'];
        $text = is_string($body) || $body === null ? $body : json_encode($body, JSON_THROW_ON_ERROR);
        return new ServerRequest($method, $path, array_filter($headers, fn (string $value) => $value !== ''), $text);
    }

    /** @return array<string, mixed> */
    private function body(int $status, ResponseInterface $response): array
    {
        self::assertSame($status, $response->getStatusCode(), (string) $response->getBody());
        self::assertSame('application/json', $response->getHeaderLine('Content-Type'));
        self::assertNotSame('', $response->getHeaderLine('X-Request-Id'));
        return json_decode((string) $response->getBody(), true, 64, JSON_THROW_ON_ERROR);
    }
}
