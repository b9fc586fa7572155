<?php

declare(strict_types=1);

namespace Pingpost;

use GuzzleHttp\ClientInterface;
use GuzzleHttp\Exception\ConnectException;
use GuzzleHttp\Exception\GuzzleException;
use GuzzleHttp\Exception\RequestException;
use GuzzleHttp\RequestOptions;
use Pingpost\Exception\TimeoutException;
use Pingpost\Exception\TransportException;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;

/** By Guzzle 7, which can be told a timeout with each request, as PSR-18 cannot. */
final class GuzzleTransport implements Transport
{
    private const CURL_TIMED_OUT = 28;

    public function __construct(private readonly ClientInterface $guzzle)
    {
    }

    public function send(RequestInterface $request, float $timeout, bool $fresh = false): ResponseInterface
    {
        try {
            return $this->guzzle->send($request, [
                RequestOptions::TIMEOUT => $timeout,
                RequestOptions::CONNECT_TIMEOUT => $timeout,
                RequestOptions::READ_TIMEOUT => $timeout,
                RequestOptions::HTTP_ERRORS => false,
                RequestOptions::ALLOW_REDIRECTS => false,
                RequestOptions::SYNCHRONOUS => true,
                RequestOptions::STREAM => false,
            ] + ($fresh ? self::freshConnection() : []));
        } catch (GuzzleException $e) {
            // Guzzle's exception contains the request, and with it the credential and the lead.
            throw self::timedOut($e)
                ? new TimeoutException("no answer within $timeout s from " . self::place($request))
                : new TransportException('no answer from ' . self::place($request) . ': ' . self::cause($e));
        }
    }

    /**
     * If a kept connection is dropped, curl repeats the request at once on its own. An attempt that must
     * wait first must not be repeated this way.
     *
     * @return array<string, mixed>
     */
    private static function freshConnection(): array
    {
        return extension_loaded('curl') ? ['curl' => [CURLOPT_FRESH_CONNECT => true]] : [];
    }

    private static function timedOut(GuzzleException $e): bool
    {
        $errno = $e instanceof ConnectException || $e instanceof RequestException
            ? ($e->getHandlerContext()['errno'] ?? null)
            : null;
        return $errno === self::CURL_TIMED_OUT || ($errno === null && stripos($e->getMessage(), 'timed out') !== false);
    }

    private static function cause(GuzzleException $e): string
    {
        $context = $e instanceof ConnectException || $e instanceof RequestException ? $e->getHandlerContext() : [];
        return ($context['error'] ?? '') !== '' ? $context['error'] : $e::class;
    }

    private static function place(RequestInterface $request): string
    {
        return $request->getUri()->getAuthority();
    }
}
