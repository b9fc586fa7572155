<?php

declare(strict_types=1);

namespace Pingpost\Buyer;

use Pingpost\Json;

/**
 * The error answer of an endpoint that rejects a request.
 *
 * @internal
 */
final class Refused extends \RuntimeException
{
    /**
     * @param array<string, string> $headers
     * @param array<string, mixed> $more members of the error beside the three that all have
     */
    private function __construct(
        private readonly int $status,
        private readonly string $error,
        string $message,
        private readonly array $headers,
        private readonly array $more,
    ) {
        parent::__construct($message);
    }

    /**
     * @param array<string, string> $headers
     * @param array<string, mixed> $more
     */
    public static function with(
        int $status,
        string $error,
        string $message,
        array $headers = [],
        array $more = [],
    ): self {
        return new self($status, $error, $message, $headers, $more);
    }

    public static function unauthorized(?string $challenge): self
    {
        $headers = $challenge === null ? [] : ['WWW-Authenticate' => $challenge];
        return new self(401, 'unauthorized', 'no credential, or one that is not known here', $headers, []);
    }

    /** @param list<array{string, string, string}> $faults path, code and what is expected there */
    public static function fields(array $faults): self
    {
        $errors = array_map(fn (array $fault) => array_combine(['field', 'code', 'expected'], $fault), $faults);
        return new self(422, 'invalid_payload', 'members are missing or wrong', [], ['field_errors' => $errors]);
    }

    public static function internal(): self
    {
        return new self(500, 'internal', 'something went wrong here; send it again', [], []);
    }

    /** @param string $fingerprint of the request, where the answer is final for it */
    public function reply(string $requestId, string $fingerprint = ''): Reply
    {
        $body = ['error' => $this->error, 'message' => $this->getMessage(), 'request_id' => $requestId] + $this->more;
        return new Reply(
            $this->status,
            Json::encode($body),
            $requestId,
            $fingerprint,
            $fingerprint !== '',
            $this->headers
        );
    }
}
