<?php

declare(strict_types=1);

namespace Pingpost;

use Pingpost\Exception\UsageException;

/**
 * The credential of a client: an API key, a token created by the operator, or an OAuth
 * client with fetched tokens. Exactly one of them is set.
 *
 * @internal
 */
final class Credential
{
    /** @param list<string> $scopes */
    public function __construct(
        #[\SensitiveParameter] public readonly ?string $apiKey,
        #[\SensitiveParameter] public readonly ?string $token,
        public readonly ?string $clientId,
        #[\SensitiveParameter] public readonly ?string $clientSecret,
        public readonly array $scopes,
    ) {
        if (($clientId === null) !== ($clientSecret === null)) {
            throw new UsageException('give clientId and clientSecret together');
        }
        $given = ['apiKey' => $apiKey, 'token' => $token, 'clientId' => $clientId];
        $there = array_keys(array_filter($given, fn (?string $value) => $value !== null));
        if (count($there) > 1) {
            throw new UsageException(implode(' and ', $there) . ' were given: a client shows one credential');
        }
        if ($there === []) {
            throw new UsageException('give apiKey, or clientId and clientSecret, or token');
        }
        foreach ($given + ['clientSecret' => $clientSecret] as $name => $value) {
            // A header cannot carry other characters; they would be cut or refused on the way.
            if ($value !== null && preg_match('/^[!-~]+$/D', $value) !== 1) {
                throw new UsageException("$name is empty, or has spaces or other characters that no credential has");
            }
        }
        if ($scopes !== [] && $clientId === null) {
            throw new UsageException('scopes are asked for with clientId and clientSecret only');
        }
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return ['kind' => match (true) {
            $this->apiKey !== null => 'API key',
            $this->token !== null => 'token',
            default => "OAuth client $this->clientId",
        }];
    }
}
