<?php

declare(strict_types=1);

namespace Pingpost;

use Pingpost\Exception\TimeoutException;
use Pingpost\Exception\TransportException;
use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;

/**
 * Sends with any PSR-18 client. The standard has no timeouts: set the timeout of that client to the one
 * of Client or less. A later answer is still accepted.
 */
final class PsrTransport implements Transport
{
    public function __construct(private readonly ClientInterface $client)
    {
    }

    public function send(RequestInterface $request, float $timeout, bool $fresh = false): ResponseInterface
    {
        $place = $request->getUri()->getAuthority();
        try {
            return $this->client->sendRequest($request);
        } catch (ClientExceptionInterface $e) {
            // The client's exception may contain the request, and with it the credential and the lead.
            throw preg_match('/time[d -]*out/i', $e->getMessage()) === 1
                ? new TimeoutException("no answer in time from $place")
                : new TransportException("no answer from $place: " . $e::class);
        }
    }
}
