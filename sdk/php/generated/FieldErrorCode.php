<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * The code for an invalid member.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class FieldErrorCode
{
    public const MISSING_REQUIRED = 'missing_required';
    public const WRONG_TYPE = 'wrong_type';
    public const INVALID_FORMAT = 'invalid_format';
    public const OUT_OF_RANGE = 'out_of_range';
    public const NOT_ALLOWED_VALUE = 'not_allowed_value';
    public const TOO_LONG = 'too_long';
    public const UNKNOWN = 'unknown';
    public const INACTIVE = 'inactive';
    public const EXPIRED = 'expired';
    public const PING_MISMATCH = 'ping_mismatch';
    public const CONTACT_FIELD_NOT_ALLOWED = 'contact_field_not_allowed';
    public const UNKNOWN_FIELD = 'unknown_field';

    /** All that were known when this was made. An exchange may send others. */
    public const KNOWN = [self::MISSING_REQUIRED, self::WRONG_TYPE, self::INVALID_FORMAT, self::OUT_OF_RANGE, self::NOT_ALLOWED_VALUE, self::TOO_LONG, self::UNKNOWN, self::INACTIVE, self::EXPIRED, self::PING_MISMATCH, self::CONTACT_FIELD_NOT_ALLOWED, self::UNKNOWN_FIELD];
}
