<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * An access token.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class TokenResponse extends Message
{
    protected const MEMBERS = [
        'access_token' => ['accessToken', 'string', true, false],
        'token_type' => ['tokenType', 'string', true, false],
        'expires_in' => ['expiresIn', 'int', true, false],
        'scope' => ['scope', 'string', true, false],
    ];

    /**
     * @param string $accessToken The token. It is opaque.
     * @param TokenType::*|string $tokenType
     * @param int $expiresIn The token's lifetime in seconds from now.
     * @param string $scope The token's scopes, separated by spaces.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $accessToken,
        public readonly string $tokenType,
        public readonly int $expiresIn,
        public readonly string $scope,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
