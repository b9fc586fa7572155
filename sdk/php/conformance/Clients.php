<?php

declare(strict_types=1);

namespace Pingpost\Conformance;

use Pingpost\Client;
use Pingpost\Exception\ShapeException;
use Pingpost\Exception\UsageException;
use Pingpost\FileTokenStore;
use Pingpost\Message;
use Pingpost\Model;

/** The clients of a run, by their names. */
final class Clients
{
    /** Method of the protocol => that of the client, and the model of its body. */
    public const METHODS = [
        'ingest_lead' => ['ingestLead', Model\IngestRequest::class],
        'check_availability' => ['checkAvailability', Model\AvailabilityRequest::class],
        'get_supplied_lead' => ['getSuppliedLead', null],
        'send_ping' => ['sendPing', Model\PingRequest::class],
        'send_post' => ['sendPost', Model\PostRequest::class],
        'get_lead' => ['getLead', null],
        'report_status' => ['reportStatus', Model\StatusChange::class],
        'report_statuses' => ['reportStatuses', Model\StatusBatch::class],
        'seed_leads' => ['seedLeads', Model\SeedRequest::class],
        'create_token' => ['createToken', Model\TokenRequest::class],
    ];

    /** @var list<float> what the clients wanted to wait since the request began */
    public array $slept = [];

    /** @var array<string, \Closure(): Client> */
    private array $makers = [];

    /** @var array<string, Client> by process too: a child that used its parent's connections would hear its answers */
    private array $clients = [];

    private int $opened = 0;

    public function __construct(private readonly string $folder)
    {
    }

    /**
     * @param array<string, mixed> $request
     * @return array<string, mixed>
     */
    public function open(array $request): array
    {
        $options = [
            'baseUrl' => $request['base_url'] ?? '',
            'authUrl' => $request['auth_url'] ?? null,
            'apiKey' => $request['api_key'] ?? null,
            'clientId' => $request['client_id'] ?? null,
            'clientSecret' => $request['client_secret'] ?? null,
            'scopes' => $request['scopes'] ?? [],
            'token' => $request['token'] ?? null,
            'timeout' => isset($request['timeout_seconds']) ? (float) $request['timeout_seconds'] : null,
            'maxRetries' => $request['max_retries'] ?? null,
        ];
        $name = $request['client'];
        // One folder per client: each has its own tokens.
        $tokens = new FileTokenStore($this->folder . '/' . getmypid() . '-' . ++$this->opened);
        $this->makers[$name] = fn (): Client => new Client(
            ...array_filter($options, fn (mixed $value) => $value !== null),
            tokenStore: $tokens,
            sleep: function (float $seconds): void {
                $this->slept[] = $seconds;
            },
        );
        $this->clients["$name " . getmypid()] = $this->makers[$name]();
        return [];
    }

    /**
     * @param array<string, mixed> $request
     * @return array<string, mixed>
     */
    public function call(array $request): array
    {
        $make = $this->makers[$request['client']] ?? throw new UsageException('no such client');
        $client = $this->clients["$request[client] " . getmypid()] ??= $make();
        [$method, $model] = self::METHODS[$request['method']] ?? throw new UsageException('no such method');
        $takes = array_map(
            fn (\ReflectionParameter $parameter) => $parameter->getName(),
            (new \ReflectionMethod($client, $method))->getParameters()
        );
        $given = array_intersect_key([
            'idempotencyKey' => $request['idempotency_key'] ?? null,
            'test' => $request['test'] ?? false,
            'timeout' => isset($request['timeout_seconds']) ? (float) $request['timeout_seconds'] : null,
        ], array_flip($takes));
        $first = in_array('id', $takes, true) ? [$request['lead_id']] : [];
        if ($model !== null) {
            $first[] = self::body($model, (array) ($request['body'] ?? []));
        }
        $answer = $client->{$method}(...$first, ...$given);
        $meta = $answer->meta();
        return array_filter([
            'body' => $answer,
            'status' => $meta->status,
            'request_id' => $meta->requestId,
            'replayed' => $meta->replayed,
            'limit' => $meta->rateLimit,
            'idempotency_key' => $meta->idempotencyKey,
        ], fn (mixed $value) => $value !== null);
    }

    /**
     * The model, or its unchanged members if they do not fit the model: the exchange then
     * reports the fault.
     *
     * @param class-string<Message> $model
     * @param array<string, mixed> $members
     * @return Message|array<string, mixed>
     */
    private static function body(string $model, array $members): Message|array
    {
        try {
            return $model::fromArray($members);
        } catch (ShapeException) {
            return $members;
        }
    }
}
