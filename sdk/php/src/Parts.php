<?php

declare(strict_types=1);

namespace Pingpost;

use Pingpost\Exception\UsageException;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\ResponseFactoryInterface;
use Psr\Http\Message\ServerRequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * Defaults: Guzzle, and for messages its factories or Nyholm's.
 *
 * @internal
 */
final class Parts
{
    public static function transport(ClientInterface|Transport|null $given): Transport
    {
        return match (true) {
            $given instanceof Transport => $given,
            $given instanceof \GuzzleHttp\ClientInterface => new GuzzleTransport($given),
            $given !== null => new PsrTransport($given),
            class_exists(\GuzzleHttp\Client::class) => new GuzzleTransport(new \GuzzleHttp\Client()),
            default => throw new UsageException(
                'no HTTP client: install guzzlehttp/guzzle, or give one of PSR-18 as httpClient'
            ),
        };
    }

    public static function requestFactory(): RequestFactoryInterface
    {
        return self::factory('requestFactory');
    }

    public static function responseFactory(): ResponseFactoryInterface
    {
        return self::factory('responseFactory');
    }

    public static function streamFactory(): StreamFactoryInterface
    {
        return self::factory('streamFactory');
    }

    public static function serverRequestFactory(): ServerRequestFactoryInterface
    {
        return self::factory('serverRequestFactory');
    }

    private static function factory(string $option): \GuzzleHttp\Psr7\HttpFactory|\Nyholm\Psr7\Factory\Psr17Factory
    {
        return match (true) {
            class_exists(\GuzzleHttp\Psr7\HttpFactory::class) => new \GuzzleHttp\Psr7\HttpFactory(),
            class_exists(\Nyholm\Psr7\Factory\Psr17Factory::class) => new \Nyholm\Psr7\Factory\Psr17Factory(),
            default => throw new UsageException(
                "no factory of messages: install guzzlehttp/psr7 or nyholm/psr7, or give one of PSR-17 as $option"
            ),
        };
    }
}
