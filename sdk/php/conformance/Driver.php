<?php

declare(strict_types=1);

namespace Pingpost\Conformance;

use Pingpost\Exception;
use Pingpost\Exception\ApiException;
use Pingpost\Exception\SignatureException;
use Pingpost\Exception\TimeoutException;
use Pingpost\Exception\TransportException;
use Pingpost\Exception\UsageException;
use Pingpost\Json;
use Pingpost\Version;
use Pingpost\Webhook;

/** Reads requests and answers them, one by one or in child processes. */
final class Driver
{
    private const KINDS = [
        'unauthorized' => Exception\UnauthorizedException::class,
        'forbidden' => Exception\ForbiddenException::class,
        'not_found' => Exception\NotFoundException::class,
        'conflict' => Exception\ConflictException::class,
        'expired' => Exception\ExpiredException::class,
        'invalid_request' => Exception\InvalidRequestException::class,
        'rate_limited' => Exception\RateLimitedException::class,
        'server_error' => Exception\ServerException::class,
    ];

    /** @var array<int, array{resource, string}> by their process: the socket of each child, and what it has said */
    private array $children = [];

    public function __construct(private readonly Clients $clients, private readonly Buyers $buyers)
    {
    }

    /**
     * @param resource $in
     * @param resource $out
     */
    public function listen($in, $out): void
    {
        stream_set_blocking($in, false);
        $rest = '';
        $open = true;
        while ($open || $this->children !== []) {
            $read = array_column($this->children, 0);
            if ($open) {
                $read[] = $in;
            }
            $none = null;
            if (@stream_select($read, $none, $none, null) === false) {
                continue;
            }
            foreach ($read as $ready) {
                if ($ready !== $in) {
                    $this->hear($ready, $out);
                    continue;
                }
                $chunk = fread($in, 65536);
                $open = $chunk !== '' && $chunk !== false || !feof($in);
                $lines = explode("\n", $rest . $chunk);
                $rest = array_pop($lines);
                foreach ($lines as $line) {
                    $this->take($line, $out);
                }
            }
        }
    }

    /** @param resource $out */
    private function take(string $line, $out): void
    {
        if (trim($line) === '') {
            return;
        }
        $request = (array) Json::decodeObject($line);
        if (($request['async'] ?? false) !== true) {
            self::write($out, $this->answer($request));
            return;
        }
        [$mine, $childs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $child = pcntl_fork();
        if ($child === 0) {
            fclose($mine);
            self::write($childs, $this->answer($request));
            // After that the parent process ends it.
            posix_kill(posix_getpid(), SIGKILL);
        }
        fclose($childs);
        stream_set_blocking($mine, false);
        $this->children[$child] = [$mine, ''];
    }

    /**
     * @param resource $ready
     * @param resource $out
     */
    private function hear($ready, $out): void
    {
        foreach ($this->children as $child => [$socket]) {
            if ($socket !== $ready) {
                continue;
            }
            $this->children[$child][1] .= (string) fread($socket, 65536);
            if (feof($socket)) {
                self::write($out, $this->children[$child][1]);
                fclose($socket);
                unset($this->children[$child]);
                pcntl_waitpid($child, $status);
            }
        }
    }

    /** @param resource $to */
    private static function write($to, string $text): void
    {
        for ($sent = 0; $sent < strlen($text);) {
            $sent += (int) fwrite($to, substr($text, $sent));
        }
        fflush($to);
    }

    /** @param array<string, mixed> $request */
    private function answer(array $request): string
    {
        $this->clients->slept = [];
        $answer = ['id' => $request['id'] ?? null];
        try {
            $result = $this->run($request);
            $answer['result'] = $result === [] ? new \stdClass() : $result;
        } catch (\Throwable $e) {
            $answer['error'] = self::told($e);
        }
        if ($this->clients->slept !== []) {
            $answer['slept'] = $this->clients->slept;
        }
        return Json::encode($answer) . "\n";
    }

    /**
     * @param array<string, mixed> $request
     * @return array<string, mixed>
     */
    private function run(array $request): array
    {
        return match ($request['op']) {
            'describe' => [
                'language' => 'php',
                'sdk_version' => Version::NUMBER,
                'flavors' => ['psr15'],
                'methods' => array_keys(Clients::METHODS),
                'features' => ['errors.is', 'errors.description', 'buyer.prefix'],
            ],
            'client.new' => $this->clients->open($request),
            'call' => $this->clients->call($request),
            'webhook.verify' => ['event' => Webhook::verify(
                body: base64_decode($request['body_base64'], true),
                headers: (array) $request['headers'],
                secrets: $request['secrets'],
                tolerance: $request['tolerance_seconds'] ?? 300,
                now: $request['now'] ?? null,
            )],
            'buyer.serve' => $this->buyers->serve($request),
            'buyer.script' => $this->buyers->script($request['buyer'], $request['script']),
            'buyer.received' => $this->buyers->received($request['buyer']),
            'buyer.stop' => $this->buyers->stop($request['buyer']),
            default => throw new UsageException("no such op: $request[op]"),
        };
    }

    /** @return array<string, mixed> */
    private static function told(\Throwable $e): array
    {
        if ($e instanceof ApiException) {
            return array_filter([
                'kind' => 'api',
                'status' => $e->status,
                'code' => $e->errorCode,
                'message' => $e->getMessage(),
                'request_id' => $e->requestId,
                'field_errors' => $e->fieldErrors === [] ? null : $e->fieldErrors,
                'retry_after' => $e->retryAfter,
                'idempotency_key' => $e->idempotencyKey,
                'description' => $e->errorDescription,
                'is' => array_keys(array_filter(self::KINDS, fn (string $class) => $e instanceof $class)),
            ], fn (mixed $value) => $value !== null);
        }
        $kind = match (true) {
            $e instanceof TimeoutException => 'timeout',
            $e instanceof TransportException => 'transport',
            $e instanceof SignatureException => 'signature',
            $e instanceof UsageException => 'usage',
            default => throw $e,
        };
        $key = $e instanceof TransportException ? $e->idempotencyKey : null;
        return ['kind' => $kind, 'message' => $e->getMessage()] + ($key === null ? [] : ['idempotency_key' => $key]);
    }
}
