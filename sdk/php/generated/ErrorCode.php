<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * The error's code, for programs. Each code has one status. In a result of a batch there is no separate status.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class ErrorCode
{
    public const MALFORMED_JSON = 'malformed_json';
    public const MALFORMED_REQUEST = 'malformed_request';
    public const INVALID_REQUEST = 'invalid_request';
    public const UNSUPPORTED_GRANT_TYPE = 'unsupported_grant_type';
    public const INVALID_SCOPE = 'invalid_scope';
    public const UNAUTHORIZED = 'unauthorized';
    public const INVALID_CLIENT = 'invalid_client';
    public const FORBIDDEN = 'forbidden';
    public const INSUFFICIENT_SCOPE = 'insufficient_scope';
    public const NOT_FOUND = 'not_found';
    public const METHOD_NOT_ALLOWED = 'method_not_allowed';
    public const REQUEST_TIMEOUT = 'request_timeout';
    public const AUCTION_EXISTS = 'auction_exists';
    public const ALREADY_SOLD = 'already_sold';
    public const INVALID_TRANSITION = 'invalid_transition';
    public const BID_EXPIRED = 'bid_expired';
    public const PAYLOAD_TOO_LARGE = 'payload_too_large';
    public const UNSUPPORTED_MEDIA_TYPE = 'unsupported_media_type';
    public const INVALID_PAYLOAD = 'invalid_payload';
    public const IDEMPOTENCY_KEY_REUSED = 'idempotency_key_reused';
    public const INVALID_BID_TOKEN = 'invalid_bid_token';
    public const POST_REJECTED = 'post_rejected';
    public const RATE_LIMITED = 'rate_limited';
    public const HEADER_TOO_LARGE = 'header_too_large';
    public const INTERNAL = 'internal';
    public const BUYER_UNAVAILABLE = 'buyer_unavailable';
    public const UNAVAILABLE = 'unavailable';
    public const BUYER_TIMEOUT = 'buyer_timeout';
    public const HTTP_VERSION_NOT_SUPPORTED = 'http_version_not_supported';

    /** All that were known when this was made. An exchange may send others. */
    public const KNOWN = [self::MALFORMED_JSON, self::MALFORMED_REQUEST, self::INVALID_REQUEST, self::UNSUPPORTED_GRANT_TYPE, self::INVALID_SCOPE, self::UNAUTHORIZED, self::INVALID_CLIENT, self::FORBIDDEN, self::INSUFFICIENT_SCOPE, self::NOT_FOUND, self::METHOD_NOT_ALLOWED, self::REQUEST_TIMEOUT, self::AUCTION_EXISTS, self::ALREADY_SOLD, self::INVALID_TRANSITION, self::BID_EXPIRED, self::PAYLOAD_TOO_LARGE, self::UNSUPPORTED_MEDIA_TYPE, self::INVALID_PAYLOAD, self::IDEMPOTENCY_KEY_REUSED, self::INVALID_BID_TOKEN, self::POST_REJECTED, self::RATE_LIMITED, self::HEADER_TOO_LARGE, self::INTERNAL, self::BUYER_UNAVAILABLE, self::UNAVAILABLE, self::BUYER_TIMEOUT, self::HTTP_VERSION_NOT_SUPPORTED];
}
