<?php

declare(strict_types=1);

namespace Pingpost;

use Pingpost\Exception\ShapeException;
use Pingpost\Exception\UsageException;

/**
 * A message in the form of one JSON object. The classes of Pingpost\Model are generated from
 * api/openapi.yaml: each has a constructor and the table by which this class decodes and encodes it.
 *
 * A decoded message encodes to the same JSON: members that this version does not know stay
 * in $additional, and $nulls distinguishes optional members that were null from
 * missing ones. A message is immutable.
 */
abstract class Message implements \JsonSerializable
{
    /**
     * Name on the wire => [property, type, required, nullable]. A type is `string`, `int`,
     * `float`, `bool` or a class; in an array of one, a list of it.
     *
     * @var array<string, array{string, string|array{string}, bool, bool}>
     */
    protected const MEMBERS = [];

    /** Members with personal data or credentials, which must not be logged. */
    private const WITHHELD = [
        'first_name', 'last_name', 'phone', 'email', 'line1', 'ip_address', 'client_secret', 'access_token',
    ];

    private ?Meta $meta = null;

    /**
     * @param array<string, mixed> $additional
     * @param list<string> $nulls
     */
    public function __construct(private readonly array $additional, private readonly array $nulls)
    {
        foreach (array_keys($additional) as $name) {
            if (isset(static::MEMBERS[$name])) {
                throw new UsageException(
                    "$name is a member of its own: give it as " . static::MEMBERS[$name][0] . ', not in additional'
                );
            }
        }
    }

    /**
     * Members that the class does not name, by their wire names.
     *
     * @return array<string, mixed>
     */
    public function additional(): array
    {
        return $this->additional;
    }

    /** Reports whether a member is present, by its wire name; null counts as present. */
    public function has(string $name): bool
    {
        return array_key_exists($name, $this->toArray());
    }

    /** The request id, status and limits of the answer with this message. */
    public function meta(): Meta
    {
        return $this->meta ?? throw new \LogicException(static::class . ' did not come as an answer');
    }

    /**
     * Creates a message from a decoded JSON object.
     *
     * @param array<string, mixed>|\stdClass $wire
     * @throws ShapeException that names every member that is missing or of another type
     */
    public static function fromArray(array|\stdClass $wire, ?Meta $meta = null): static
    {
        $faults = [];
        $message = static::read((array) $wire, '', $faults);
        if ($message === null) {
            throw new ShapeException($faults);
        }
        $message->meta = $meta;
        return $message;
    }

    /**
     * The members by their wire names.
     *
     * @return array<string, mixed>
     */
    public function toArray(): array
    {
        $wire = [];
        foreach (static::MEMBERS as $name => [$property, , $required]) {
            $value = $this->{$property};
            if ($value !== null) {
                $wire[$name] = self::written($value);
            } elseif ($required || in_array($name, $this->nulls, true)) {
                $wire[$name] = null;
            }
        }
        return $wire + $this->additional;
    }

    public function jsonSerialize(): mixed
    {
        $wire = $this->toArray();
        return array_is_list($wire) ? (object) $wire : $wire;
    }

    /**
     * For print_r and var_dump, because their output ends in logs.
     *
     * @return array<string, mixed>
     */
    public function __debugInfo(): array
    {
        $shown = [];
        foreach (static::MEMBERS as $name => [$property]) {
            $value = $this->{$property};
            $shown[$property] = $value !== null && in_array($name, self::WITHHELD, true) ? '(withheld)' : $value;
        }
        if ($this->additional !== []) {
            $shown['additional'] = array_map(fn () => '(withheld)', $this->additional);
        }
        return $shown;
    }

    /**
     * @param array<string, mixed> $wire
     * @param list<array{string, string, string}> $faults path, code, what was expected; added to
     */
    private static function read(array $wire, string $path, array &$faults): ?static
    {
        $before = count($faults);
        $arguments = [];
        $nulls = [];
        foreach (static::MEMBERS as $name => [$property, $type, $required, $nullable]) {
            $there = array_key_exists($name, $wire);
            $value = $there ? $wire[$name] : null;
            unset($wire[$name]);
            if ($value !== null) {
                $arguments[$property] = self::valueOf($value, $type, $path . $name, $faults);
                continue;
            }
            if ($required && !($there && $nullable)) {
                $faults[] = [$path . $name, 'missing_required', self::inWords($type)];
            } elseif ($required) {
                $arguments[$property] = null;
            } elseif ($there) {
                $nulls[] = $name;
            }
        }
        if (count($faults) > $before) {
            return null;
        }
        return new static(...$arguments, additional: $wire, nulls: $nulls);
    }

    /**
     * @param string|array{string} $type
     * @param list<array{string, string, string}> $faults
     */
    private static function valueOf(mixed $value, string|array $type, string $path, array &$faults): mixed
    {
        if (is_array($type)) {
            if (is_array($value) && array_is_list($value)) {
                $list = [];
                foreach ($value as $i => $item) {
                    $list[] = self::valueOf($item, $type[0], "$path.$i", $faults);
                }
                return $list;
            }
        } elseif (is_subclass_of($type, self::class)) {
            if ($value instanceof \stdClass || (is_array($value) && !array_is_list($value))) {
                return $type::read((array) $value, "$path.", $faults);
            }
        } elseif ($type === 'float' && (is_float($value) || is_int($value))) {
            return (float) $value;
        } elseif (get_debug_type($value) === $type) {
            return $value;
        } elseif ($type === 'int' && is_float($value) && floor($value) === $value && abs($value) < 2 ** 53) {
            return (int) $value;
        }
        $faults[] = [$path, 'wrong_type', self::inWords($type)];
        return null;
    }

    /** @param string|array{string} $type */
    private static function inWords(string|array $type): string
    {
        return match (true) {
            is_array($type) => 'an array',
            $type === 'string' => 'a string',
            $type === 'int' => 'an integer',
            $type === 'float' => 'a number',
            $type === 'bool' => 'true or false',
            default => 'an object',
        };
    }

    private static function written(mixed $value): mixed
    {
        return match (true) {
            $value instanceof self => $value->jsonSerialize(),
            is_array($value) => array_map(self::written(...), $value),
            default => $value,
        };
    }
}
