<?php

declare(strict_types=1);

namespace Pingpost;

/**
 * JSON that decodes and encodes without loss.
 *
 * Objects are decoded as arrays, except those that an array would not encode as an object: an
 * empty one, and one whose members are named 0, 1, 2. They stay \stdClass. Numbers are written with
 * the fewest digits that identify them, regardless of serialize_precision in php.ini: an
 * amount with six decimals up to a million then keeps its digits, and 0.1 is not 0.1000…0001.
 *
 * @internal
 */
final class Json
{
    /** How deep the exchange takes an object to be nested. */
    public const DEPTH = 32;

    /** @throws \JsonException */
    public static function encode(mixed $value): string
    {
        $before = ini_set('serialize_precision', '-1');
        try {
            return json_encode($value, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
        } finally {
            if ($before !== false) {
                ini_set('serialize_precision', $before);
            }
        }
    }

    /**
     * @return array<string, mixed>|\stdClass one object
     * @throws \JsonException where it is no JSON, or no object
     */
    public static function decodeObject(string $json, int $depth = 512): array|\stdClass
    {
        $value = json_decode($json, false, $depth, JSON_THROW_ON_ERROR);
        if (!$value instanceof \stdClass) {
            throw new \JsonException('not an object');
        }
        return self::plain($value);
    }

    private static function plain(mixed $value): mixed
    {
        if (is_array($value)) {
            return array_map(self::plain(...), $value);
        }
        if (!$value instanceof \stdClass) {
            return $value;
        }
        $members = array_map(self::plain(...), get_object_vars($value));
        return array_is_list($members) ? (object) $members : $members;
    }
}
