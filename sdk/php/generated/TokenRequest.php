<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A client's credentials, to get a token. Other members and parameters are ignored.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class TokenRequest extends Message
{
    protected const MEMBERS = [
        'grant_type' => ['grantType', 'string', true, false],
        'client_id' => ['clientId', 'string', false, false],
        'client_secret' => ['clientSecret', 'string', false, false],
        'scope' => ['scope', 'string', false, false],
    ];

    /**
     * @param GrantType::*|string $grantType
     * @param string|null $clientId The client's id, here or by HTTP Basic.
     * @param string|null $clientSecret The client's secret, next to its id.
     * @param string|null $scope The token's scopes: some of `ping`, `post` and `webhook`, separated by spaces. By default all scopes of the client.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $grantType,
        public readonly ?string $clientId = null,
        #[\SensitiveParameter] public readonly ?string $clientSecret = null,
        public readonly ?string $scope = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
