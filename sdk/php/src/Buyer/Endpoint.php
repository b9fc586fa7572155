<?php

declare(strict_types=1);

namespace Pingpost\Buyer;

use Pingpost\Exception\ShapeException;
use Pingpost\Json;
use Pingpost\Model\LeadDelivery;
use Pingpost\Model\PingRequest;
use Pingpost\Parts;
use Psr\Http\Message\ResponseFactoryInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Message\StreamFactoryInterface;
use Psr\Http\Server\RequestHandlerInterface;

/**
 * A buyer's endpoint with two functions: one bids for a ping, the other accepts or refuses the lead of a post.
 *
 * It answers POST {prefix}/v1/ping and POST {prefix}/v1/post as an exchange expects. An exception of a function
 * is answered with 500 without details, so that the exchange sends the post again; $onError receives it.
 * A post that is repeated with its Idempotency-Key gets the first answer again, without a call of the function.
 */
final class Endpoint implements RequestHandlerInterface
{
    private const LARGEST = 65536;

    /** How long an auction takes at most, in seconds. */
    private const WINDOW = 5.0;

    private readonly ResponseFactoryInterface $responses;
    private readonly StreamFactoryInterface $streams;
    private readonly ReplyStore $replies;

    /**
     * @param \Closure(PingRequest, Incoming): (Bid|NoBid) $bid
     * @param \Closure(LeadDelivery, Incoming): (string|int|null|Refusal) $post your id of the lead, if it has one
     * @param Access|null $access whom to listen to; everybody, where left out
     * @param string $prefix the path below which the endpoint stands, such as /leads
     * @param (\Closure(\Throwable): void)|null $onError error_log() with class and place, where left out
     * @param (\Closure(): float)|null $clock epoch seconds
     */
    public function __construct(
        private readonly \Closure $bid,
        private readonly \Closure $post,
        private readonly ?Access $access = null,
        ?ReplyStore $replies = null,
        private readonly string $prefix = '',
        private readonly ?\Closure $onError = null,
        ?ResponseFactoryInterface $responseFactory = null,
        ?StreamFactoryInterface $streamFactory = null,
        private readonly ?\Closure $clock = null,
    ) {
        $this->replies = $replies ?? new MemoryReplyStore();
        $this->responses = $responseFactory ?? Parts::responseFactory();
        $this->streams = $streamFactory ?? Parts::streamFactory();
    }

    public function handle(ServerRequestInterface $request): ResponseInterface
    {
        $id = self::requestId($request);
        try {
            [$reply, $replayed] = $this->answer($request, $id);
        } catch (Refused $refused) {
            [$reply, $replayed] = [$refused->reply($id), false];
        } catch (\Throwable $e) {
            $this->report($e);
            [$reply, $replayed] = [Refused::internal()->reply($id), false];
        }
        $response = $this->responses->createResponse($reply->status)
            ->withHeader('Content-Type', 'application/json')
            ->withHeader('X-Request-Id', $reply->requestId)
            ->withBody($this->streams->createStream($reply->body));
        foreach ($reply->headers as $name => $value) {
            $response = $response->withHeader($name, $value);
        }
        return $replayed ? $response->withHeader('Idempotent-Replayed', 'true') : $response;
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return ['prefix' => $this->prefix];
    }

    /**
     * The checks have the same order as the exchange's own.
     *
     * @return array{Reply, bool} and whether it was given before
     * @throws Refused
     */
    private function answer(ServerRequestInterface $request, string $id): array
    {
        $at = $this->now();
        $pings = match ($request->getUri()->getPath()) {
            rtrim($this->prefix, '/') . '/v1/ping' => true,
            rtrim($this->prefix, '/') . '/v1/post' => false,
            default => throw Refused::with(404, 'not_found', 'there are only /v1/ping and /v1/post here'),
        };
        if ($request->getMethod() !== 'POST') {
            throw Refused::with(405, 'method_not_allowed', 'only POST is answered here', ['Allow' => 'POST']);
        }
        if ($this->access !== null && !$this->access->opens($request)) {
            throw Refused::unauthorized($this->access->challenge());
        }
        $body = self::body($request);
        $type = strtolower(trim(explode(';', $request->getHeaderLine('Content-Type'))[0]));
        if ($type !== 'application/json') {
            throw Refused::with(415, 'unsupported_media_type', 'the body has to be sent as application/json');
        }
        $members = self::members($body);
        $incoming = self::incoming($request, $id);
        if ($pings) {
            return [$this->pinged($members, $incoming, $at), false];
        }
        $fingerprint = hash('sha256', $body);
        $fresh = false;
        $make = function () use ($members, $incoming, $fingerprint, &$fresh): Reply {
            $fresh = true;
            return $this->posted($members, $incoming, $fingerprint);
        };
        $reply = $this->once($incoming->idempotencyKey, $make);
        if (!$fresh && !hash_equals($reply->fingerprint, $fingerprint)) {
            throw Refused::with(422, 'idempotency_key_reused', 'this Idempotency-Key came with another body before');
        }
        return [$reply, !$fresh];
    }

    /** @param \Closure(): Reply $make */
    private function once(string $key, \Closure $make): Reply
    {
        try {
            return $this->replies->once($key, $make);
        } catch (StillRunning) {
            throw Refused::with(503, 'unavailable', 'the same post is being answered', ['Retry-After' => '1']);
        }
    }

    /** @param array<string, mixed> $members */
    private function pinged(array $members, Incoming $incoming, float $at): Reply
    {
        $ping = self::shaped(
            PingRequest::class,
            $members,
            ['auction_id' => $members, 'vertical' => $members, 'state' => $members]
        );
        $deadline = self::deadline($ping, $at);
        $bid = $this->now() > $deadline ? null : ($this->bid)($ping, $incoming);
        if ($bid === null || $this->now() > $deadline) {
            $bid = new NoBid('timeout', 'the answer came after expires_at');
        }
        $answer = match (true) {
            $bid instanceof NoBid => [
                'auction_id' => $ping->auctionId,
                'bid' => null,
                'reject_reason' => $bid->reason,
                'reject_detail' => $bid->detail,
            ],
            $bid instanceof Bid => ['auction_id' => $ping->auctionId, 'bid' => $this->offer($bid)]
                + ($bid->filtersPassed === [] ? [] : ['buyer_filters_passed' => array_values($bid->filtersPassed)]),
            default => throw new \UnexpectedValueException('a bid function returns a Bid or a NoBid'),
        };
        return new Reply(200, Json::encode($answer), $incoming->requestId);
    }

    /** @return array<string, mixed> */
    private function offer(Bid $bid): array
    {
        $until = $bid->validUntil !== null
            ? \DateTimeImmutable::createFromInterface($bid->validUntil)->setTimezone(new \DateTimeZone('UTC'))
            : \DateTimeImmutable::createFromFormat('U.u', sprintf('%.6F', $this->now() + self::WINDOW));
        return array_filter([
            'amount' => $bid->amount,
            'currency' => $bid->currency,
            'bid_token' => $bid->token ?? 'bid_' . bin2hex(random_bytes(16)),
            'valid_until' => $until->format('Y-m-d\TH:i:s.v\Z'),
        ], fn (mixed $value) => $value !== null);
    }

    /** @param array<string, mixed> $members */
    private function posted(array $members, Incoming $incoming, string $fingerprint): Reply
    {
        $lead = is_array($members['lead'] ?? null) ? $members['lead'] : [];
        $delivery = self::shaped(LeadDelivery::class, $members, [
            'auction_id' => $members,
            'lead.lead_uuid' => $lead,
            'lead.first_name' => $lead,
            'lead.last_name' => $lead,
            'lead.email' => $lead,
            'lead.phone' => $lead,
        ]);
        $taken = ($this->post)($delivery, $incoming);
        if ($taken instanceof Refusal) {
            return Refused::with(422, 'post_rejected', $taken->message, [], ['reason' => $taken->reason])
                ->reply($incoming->requestId, $fingerprint);
        }
        if (!is_string($taken) && !is_int($taken) && $taken !== null) {
            throw new \UnexpectedValueException('a post function returns an id, null or a Refusal');
        }
        $answer = ['auction_id' => $delivery->auctionId];
        if ($taken !== null) {
            $answer['lead_id'] = (string) $taken;
        }
        return new Reply(201, Json::encode($answer), $incoming->requestId, $fingerprint, true);
    }

    /**
     * @template T of \Pingpost\Message
     * @param class-string<T> $class
     * @param array<string, mixed> $members
     * @param array<string, array<string, mixed>> $texts path of a text that is required => the object that has it
     * @return T
     */
    private static function shaped(string $class, array $members, array $texts): \Pingpost\Message
    {
        $faults = [];
        foreach ($texts as $path => $object) {
            $value = $object[substr((string) strrchr(".$path", '.'), 1)] ?? null;
            if (is_string($value) && trim($value) === '') {
                $faults[] = [$path, 'missing_required', 'a string'];
            }
        }
        try {
            $message = $class::fromArray($members);
        } catch (ShapeException $e) {
            throw Refused::fields([...$e->faults, ...$faults]);
        }
        return $faults === [] ? $message : throw Refused::fields($faults);
    }

    private static function deadline(PingRequest $ping, float $at): float
    {
        if ($ping->expiresAt === null) {
            return $at + self::WINDOW;
        }
        $form = '/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/D';
        // PHP's clock has six decimals and cannot parse more.
        $text = preg_replace('/(\.\d{6})\d+/', '$1', $ping->expiresAt);
        $time = preg_match($form, $ping->expiresAt) === 1 ? date_create_immutable($text) : false;
        if ($time === false) {
            throw Refused::fields([['expires_at', 'invalid_format', 'a time by RFC 3339']]);
        }
        return min((float) $time->format('U.u'), $at + self::WINDOW);
    }

    private static function body(ServerRequestInterface $request): string
    {
        $stream = $request->getBody();
        if ($stream->isSeekable()) {
            $stream->rewind();
        }
        $body = '';
        while (!$stream->eof() && strlen($body) <= self::LARGEST) {
            $body .= $stream->read(self::LARGEST + 1 - strlen($body));
        }
        if (strlen($body) > self::LARGEST) {
            throw Refused::with(413, 'payload_too_large', 'a body may have 64 KiB');
        }
        return $body;
    }

    /** @return array<string, mixed> */
    private static function members(string $body): array
    {
        try {
            return (array) Json::decodeObject($body, Json::DEPTH);
        } catch (\JsonException) {
            throw Refused::with(400, 'malformed_json', 'the body has to be one JSON object');
        }
    }

    private static function incoming(ServerRequestInterface $request, string $id): Incoming
    {
        $key = trim($request->getHeaderLine('Idempotency-Key'));
        if (strlen($key) > 1 && str_starts_with($key, '"') && str_ends_with($key, '"')) {
            $key = substr($key, 1, -1);
        }
        if ($key === '') {
            throw Refused::fields([['Idempotency-Key', 'missing_required', 'a header of 1 to 255 characters']]);
        }
        if (preg_match('/^[!-~]{1,255}$/D', $key) !== 1) {
            throw Refused::fields([['Idempotency-Key', 'invalid_format', '1 to 255 visible ASCII characters']]);
        }
        $hops = $request->getHeaderLine('X-Pingpost-Hops');
        return new Incoming(
            idempotencyKey: $key,
            test: in_array($request->getHeaderLine('X-Pingpost-Test'), ['1', 'true'], true),
            requestId: $id,
            hops: preg_match('/^[0-9]$/D', $hops) === 1 ? (int) $hops : 0,
        );
    }

    private static function requestId(ServerRequestInterface $request): string
    {
        $told = $request->getHeaderLine('X-Request-Id');
        return preg_match('/^[0-9A-Za-z_.:-]{1,64}$/D', $told) === 1 ? $told : 'req_' . bin2hex(random_bytes(13));
    }

    private function now(): float
    {
        return $this->clock === null ? microtime(true) : ($this->clock)();
    }

    private function report(\Throwable $e): void
    {
        if ($this->onError !== null) {
            ($this->onError)($e);
            return;
        }
        // Not its message, which may contain the lead.
        error_log('pingpost: ' . $e::class . ' at ' . $e->getFile() . ':' . $e->getLine());
    }
}
