<?php

declare(strict_types=1);

namespace Pingpost;

use Pingpost\Exception\ApiException;
use Pingpost\Exception\TransportException;
use Pingpost\Exception\UsageException;
use Pingpost\Model\TokenRequest;
use Pingpost\Model\TokenResponse;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * Repeats a call until its answer is final.
 *
 *  - An attempt that may succeed later (5xx, 429, no answer) is repeated with the same bytes and key.
 *  - After a 401 to a fetched token, a new token is fetched and tried at once; this does not count as a retry.
 *    A second 401 is final.
 *  - Fetching a token is a separate call with its own attempts.
 *
 * @internal
 */
final class Sender
{
    public function __construct(
        private readonly string $address,
        private readonly string $authAddress,
        private readonly Credential $credential,
        private readonly float $timeout,
        private readonly int $maxRetries,
        private readonly string $userAgent,
        private readonly Transport $transport,
        private readonly RequestFactoryInterface $requests,
        private readonly StreamFactoryInterface $streams,
        private readonly TokenStore $tokens,
        private readonly \Closure $sleep,
    ) {
        if (!($timeout > 0 && is_finite($timeout))) {
            throw new UsageException('timeout has to be a number of seconds above 0');
        }
        if ($maxRetries < 0) {
            throw new UsageException('maxRetries cannot be below 0');
        }
    }

    /**
     * @template T of Message
     * @param class-string<T> $class
     * @return T
     */
    public function call(Call $call, string $class): Message
    {
        $answer = match ($call->auth) {
            Call::API_KEY => $this->tries($this->request($call)->withHeader('x-api-key', $this->apiKey($call)), $call),
            Call::BEARER => $this->bearing($call),
            default => $this->tries($this->request($call, $this->authAddress), $call),
        };
        return $answer->message($class, $call->key);
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return ['address' => $this->address, 'credential' => $this->credential];
    }

    private function bearing(Call $call): Answer
    {
        $send = fn (#[\SensitiveParameter] string $token) => $this->tries(
            $this->request($call)->withHeader('Authorization', "Bearer $token"),
            $call
        );
        if ($this->credential->token !== null) {
            return $send($this->credential->token);
        }
        $token = $this->token($call);
        $answer = $send($token);
        return $answer->status === 401 ? $send($this->token($call, $token)) : $answer;
    }

    private function tries(RequestInterface $request, Call $call): Answer
    {
        for ($failed = 1;; $failed++) {
            $wait = null;
            try {
                // The next attempt must send the whole body again.
                $sent = $call->body === null ? $request : $request->withBody($this->streams->createStream($call->body));
                $timeout = $call->timeout ?? $this->timeout;
                $answer = new Answer($this->transport->send($sent, $timeout, $failed > 1));
                if (!Waits::passing($answer->status) || $failed > $this->maxRetries) {
                    return $answer;
                }
                $wait = $answer->retryAfter;
            } catch (TransportException $e) {
                if ($failed > $this->maxRetries) {
                    throw $e->underKey($call->key);
                }
            }
            ($this->sleep)(Waits::before($failed, $wait));
        }
    }

    private function apiKey(Call $for): string
    {
        return $this->credential->apiKey ?? throw new UsageException("$for->path needs a client with apiKey");
    }

    private function token(Call $for, #[\SensitiveParameter] ?string $refused = null): string
    {
        $id = $this->credential->clientId ?? throw new UsageException(
            "$for->path needs a client with clientId and clientSecret, or with token"
        );
        $scope = implode(' ', $this->credential->scopes);
        $fetch = function () use ($id, $scope, $for): Token {
            $now = microtime(true);
            $answer = $this->call(Call::token(new TokenRequest(
                grantType: 'client_credentials',
                clientId: $id,
                clientSecret: $this->credential->clientSecret,
                scope: $scope === '' ? null : $scope,
            ), $for->timeout), TokenResponse::class);
            return Token::lasting($answer->accessToken, $answer->expiresIn, $now);
        };
        // Tokens of another secret may have other rights, and end with that secret.
        $secret = hash('sha256', $this->credential->clientSecret ?? '');
        $name = implode("\n", [$this->authAddress, $id, $secret, $scope]);
        try {
            return $this->tokens->token($name, microtime(true), $fetch, $refused)->value;
        } catch (TransportException | ApiException $e) {
            throw $e->underKey($for->key);
        }
    }

    private function request(Call $call, ?string $address = null): RequestInterface
    {
        $request = $this->requests->createRequest($call->method, ($address ?? $this->address) . $call->path)
            ->withHeader('User-Agent', $this->userAgent)
            ->withHeader('Accept', 'application/json');
        if ($call->body !== null) {
            $request = $request->withHeader('Content-Type', 'application/json');
        }
        if ($call->key !== null) {
            $request = $request->withHeader('Idempotency-Key', $call->key);
        }
        foreach ($call->headers as $name => $value) {
            $request = $request->withHeader($name, $value);
        }
        return $request;
    }
}
