<?php

declare(strict_types=1);

namespace Pingpost;

use Pingpost\Exception\ApiException;
use Pingpost\Exception\TransportException;
use Pingpost\Exception\UsageException;
use Pingpost\Model\AvailabilityRequest;
use Pingpost\Model\AvailabilityResponse;
use Pingpost\Model\BidResponse;
use Pingpost\Model\IngestRequest;
use Pingpost\Model\IngestResponse;
use Pingpost\Model\Lead;
use Pingpost\Model\LeadResponse;
use Pingpost\Model\PingRequest;
use Pingpost\Model\PostRequest;
use Pingpost\Model\PostResponse;
use Pingpost\Model\SeedRequest;
use Pingpost\Model\SeedResponse;
use Pingpost\Model\StatusBatch;
use Pingpost\Model\StatusBatchResponse;
use Pingpost\Model\StatusChange;
use Pingpost\Model\StatusResponse;
use Pingpost\Model\TokenRequest;
use Pingpost\Model\TokenResponse;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * The client of an exchange for suppliers, sellers and buyers.
 *
 * Each method is one operation of api/openapi.yaml. A request is a model or an array of its members
 * in their wire form. Answers are models; `$answer->meta()` returns their request id, status and limits.
 *
 * A call that fails with a 5xx, a 429, or no answer is retried up to $maxRetries times, with the same
 * bytes and the same Idempotency-Key, after 1, 2, 4, 8, 16 s or the time in Retry-After. Every POST has
 * such a key, so that all attempts have one effect; the client generates a missing one. Exceptions contain it.
 *
 * @throws UsageException by every method, if it is called wrongly
 * @throws ApiException by every method, if the exchange answers with an error
 * @throws TransportException by every method, if no answer arrives
 */
final class Client
{
    private readonly Sender $sender;

    /**
     * @param string $baseUrl the exchange's URL, with a path only if the exchange is below one
     * @param string|null $apiKey for ingestLead, checkAvailability and getSuppliedLead
     * @param string|null $clientId with $clientSecret for all others; tokens are fetched and renewed
     * @param list<string> $scopes scopes of the tokens; empty: all of the client's scopes
     * @param string|null $token a sandbox's bearer token, for all others
     * @param string|null $authUrl URL of the token server, if not $baseUrl
     * @param float $timeout seconds for each attempt
     * @param int $maxRetries number of retries after the first attempt
     * @param ClientInterface|Transport|null $httpClient default: Guzzle, if installed
     * @param (\Closure(float): void)|null $sleep waits that many seconds
     */
    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter] ?string $apiKey = null,
        ?string $clientId = null,
        #[\SensitiveParameter] ?string $clientSecret = null,
        array $scopes = [],
        #[\SensitiveParameter] ?string $token = null,
        ?string $authUrl = null,
        float $timeout = 10.0,
        int $maxRetries = 5,
        ?string $userAgent = null,
        ClientInterface|Transport|null $httpClient = null,
        ?RequestFactoryInterface $requestFactory = null,
        ?StreamFactoryInterface $streamFactory = null,
        ?TokenStore $tokenStore = null,
        ?\Closure $sleep = null,
    ) {
        $this->sender = new Sender(
            address: Address::of($baseUrl, 'baseUrl'),
            authAddress: Address::of($authUrl ?? $baseUrl, 'authUrl'),
            credential: new Credential($apiKey, $token, $clientId, $clientSecret, $scopes),
            timeout: $timeout,
            maxRetries: $maxRetries,
            userAgent: $userAgent ?? 'pingpost-php/' . Version::NUMBER,
            transport: Parts::transport($httpClient),
            requests: $requestFactory ?? Parts::requestFactory(),
            streams: $streamFactory ?? Parts::streamFactory(),
            tokens: $tokenStore ?? new MemoryTokenStore(),
            sleep: $sleep ?? static function (float $seconds): void {
                // A signal ends a sleep early.
                for ($end = hrtime(true) + $seconds * 1e9; ($left = $end - hrtime(true)) > 0;) {
                    usleep((int) ceil($left / 1000));
                }
            },
        );
    }

    /**
     * Sends a whole lead. The answer contains the buyer, or the reason why the lead is unsold.
     *
     * @param IngestRequest|array<string, mixed> $lead
     */
    public function ingestLead(
        IngestRequest|array $lead,
        ?string $idempotencyKey = null,
        bool $test = false,
        ?float $timeout = null,
    ): IngestResponse {
        $call = Call::post('/api/v1/ingest', Call::API_KEY, $lead, $timeout)->keyed($idempotencyKey)->test($test);
        return $this->sender->call($call, IngestResponse::class);
    }

    /**
     * Returns the buyers that would buy a lead, with their payouts. It creates no lead.
     *
     * @param AvailabilityRequest|array<string, mixed> $question
     */
    public function checkAvailability(
        AvailabilityRequest|array $question,
        ?string $idempotencyKey = null,
        bool $test = false,
        ?float $timeout = null,
    ): AvailabilityResponse {
        $call = Call::post('/api/v1/ping', Call::API_KEY, $question, $timeout)->keyed($idempotencyKey)->test($test);
        return $this->sender->call($call, AvailabilityResponse::class);
    }

    /** Returns the status of a lead that was sent with this API key. */
    public function getSuppliedLead(string $id, ?float $timeout = null): LeadResponse
    {
        $call = Call::get('/api/v1/leads/' . Call::segment($id), Call::API_KEY, $timeout);
        return $this->sender->call($call, LeadResponse::class);
    }

    /**
     * Requests a bid without contact data. Without a bid, $bid is null; that is no error.
     *
     * @param PingRequest|array<string, mixed> $ping
     */
    public function sendPing(
        PingRequest|array $ping,
        ?string $idempotencyKey = null,
        bool $test = false,
        ?float $timeout = null,
    ): BidResponse {
        $call = Call::post('/v1/ping', Call::BEARER, $ping, $timeout)->keyed($idempotencyKey)->test($test);
        return $this->sender->call($call, BidResponse::class);
    }

    /**
     * Sells the lead at the bid of its ping.
     *
     * @param PostRequest|array<string, mixed> $post
     */
    public function sendPost(
        PostRequest|array $post,
        ?string $idempotencyKey = null,
        bool $test = false,
        ?float $timeout = null,
    ): PostResponse {
        $call = Call::post('/v1/post', Call::BEARER, $post, $timeout)->keyed($idempotencyKey)->test($test);
        return $this->sender->call($call, PostResponse::class);
    }

    /** Returns the status of a lead, for its seller and its buyer. */
    public function getLead(string $id, ?float $timeout = null): Lead
    {
        $call = Call::get('/v1/leads/' . Call::segment($id), Call::BEARER, $timeout);
        return $this->sender->call($call, Lead::class);
    }

    /**
     * Reports the status of a bought lead.
     *
     * @param StatusChange|array<string, mixed> $change
     */
    public function reportStatus(
        string $id,
        StatusChange|array $change,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
    ): StatusResponse {
        $path = '/v1/leads/' . Call::segment($id) . '/status';
        $call = Call::post($path, Call::BEARER, $change, $timeout)->keyed($idempotencyKey);
        return $this->sender->call($call, StatusResponse::class);
    }

    /**
     * Reports the statuses of up to a thousand leads. Each result tells whether its report was accepted.
     *
     * @param StatusBatch|array<string, mixed> $batch
     */
    public function reportStatuses(
        StatusBatch|array $batch,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
    ): StatusBatchResponse {
        $call = Call::post('/v1/leads/status', Call::BEARER, $batch, $timeout)->keyed($idempotencyKey);
        return $this->sender->call($call, StatusBatchResponse::class);
    }

    /**
     * Creates leads about fictitious people in a sandbox.
     *
     * @param SeedRequest|array<string, mixed> $request
     */
    public function seedLeads(SeedRequest|array $request, ?float $timeout = null): SeedResponse
    {
        return $this->sender->call(Call::post('/v1/dev/seed', Call::BEARER, $request, $timeout), SeedResponse::class);
    }

    /**
     * Fetches an access token. The other methods do this automatically.
     *
     * @param TokenRequest|array<string, mixed> $request
     */
    public function createToken(TokenRequest|array $request, ?float $timeout = null): TokenResponse
    {
        return $this->sender->call(Call::token($request, $timeout), TokenResponse::class);
    }
}
