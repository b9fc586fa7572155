<?php

declare(strict_types=1);

namespace Pingpost\Buyer;

use Pingpost\Parts;
use Psr\Http\Message\ServerRequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;
use Psr\Http\Server\RequestHandlerInterface;

/**
 * Serves an endpoint without a framework: PHP's current request and its answer. It
 * passes the method, the path, the headers and the body to the endpoint.
 */
final class Sapi
{
    public static function run(
        RequestHandlerInterface $handler,
        ?ServerRequestFactoryInterface $serverRequestFactory = null,
        ?StreamFactoryInterface $streamFactory = null,
    ): void {
        $request = ($serverRequestFactory ?? Parts::serverRequestFactory())->createServerRequest(
            $_SERVER['REQUEST_METHOD'] ?? 'GET',
            parse_url('http://localhost' . ($_SERVER['REQUEST_URI'] ?? '/'), PHP_URL_PATH) ?: '/',
            $_SERVER
        );
        foreach (self::headers() as $name => $value) {
            $request = $request->withHeader((string) $name, $value);
        }
        $body = fopen('php://input', 'rb');
        $streams = $streamFactory ?? Parts::streamFactory();
        $response = $handler->handle($request->withBody($streams->createStreamFromResource($body)));

        header_remove('X-Powered-By');
        http_response_code($response->getStatusCode());
        foreach ($response->getHeaders() as $name => $values) {
            foreach ($values as $value) {
                header("$name: $value", false);
            }
        }
        header('Content-Length: ' . $response->getBody()->getSize());
        echo $response->getBody();
    }

    /** @return array<string, string> */
    private static function headers(): array
    {
        if (function_exists('getallheaders')) {
            return getallheaders();
        }
        $headers = [];
        foreach ($_SERVER as $name => $value) {
            if (str_starts_with((string) $name, 'HTTP_')) {
                $headers[strtr(substr($name, 5), '_', '-')] = $value;
            } elseif ($name === 'CONTENT_TYPE') {
                $headers['Content-Type'] = $value;
            }
        }
        return $headers;
    }
}
