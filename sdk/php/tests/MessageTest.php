<?php

declare(strict_types=1);

namespace Pingpost\Tests;

use PHPUnit\Framework\TestCase;
use Pingpost\Exception\ShapeException;
use Pingpost\Exception\UsageException;
use Pingpost\Json;
use Pingpost\Message;
use Pingpost\Model;
use Pingpost\Model\IngestRequest;
use Pingpost\Model\Lead;
use Pingpost\Model\PingRequest;
use Pingpost\Model\PostRequest;
use Pingpost\Model\Price;
use Pingpost\Model\StatusBatch;
use Pingpost\Model\StatusBatchChange;

final class MessageTest extends TestCase
{
    /** @return array<string, array{class-string<Message>, string}> */
    public function wires(): array
    {
        $lead = '"id":"l","status":"%s","campaign_id":"c",%s"auction_id":null,"buyer_id":null,"price":%s,'
            . '"reason":null,"delivery":"none","created_at":"2026-03-02T17:04:05.123456789Z"';
        $ping = '{"auction_id":"a","vertical":"v","state":"CA","tcpa_consent":false%s}';
        return [
            'what is absent stays so' => [Lead::class, sprintf("{{$lead}}", 'ACCEPTED', '', 'null')],
            'what is null stays so' => [Lead::class, sprintf("{{$lead}}", 'ACCEPTED', '"lead_uuid":null,', 'null')],
            'a state that is new' => [Lead::class, sprintf("{{$lead}}", 'pondered', '"lead_uuid":"u",', 'null')],
            'members within' => [
                Lead::class,
                sprintf("{{$lead}}", 'sold', '', '{"amount":9.64,"currency":"USD","more":{"a":[]}}'),
            ],
            'members that are new' => [PingRequest::class, sprintf($ping, ',"roof":{"slope":[1.5,null]},"zero":0')],
            'an empty object' => [PingRequest::class, sprintf($ping, ',"roof":{},"list":[],"deep":[{},[]]')],
            'members that are numbers' => [PingRequest::class, sprintf($ping, ',"roof":{"0":"a","1":"b"},"7":"c"')],
            'letters of any kind' => [PingRequest::class, sprintf($ping, ',"name":"Zoë 李 😀 </script>"')],
            'a list of objects' => [StatusBatch::class, '{"changes":[{"lead_id":"l","status":"sold"}]}'],
            'one without members' => [Model\Address::class, '{}'],
            'one of numbers alone' => [Model\Address::class, '{"0":"a","1":"b"}'],
        ];
    }

    /**
     * @dataProvider wires
     * @param class-string<Message> $class
     */
    public function testWhatWasReadIsWrittenAgain(string $class, string $wire): void
    {
        self::assertSame($wire, Json::encode($class::fromArray(Json::decodeObject($wire))));
    }

    /** @return array<string, array{string, float}> */
    public function amounts(): array
    {
        return [
            'the least' => ['0.000001', 0.000001],
            'close to the most' => ['999999.999999', 999999.999999],
            'the most' => ['1000000', 1000000.0],
            'what a float makes long' => ['0.1', 0.1],
            'none' => ['0', 0.0],
            'whole' => ['9', 9.0],
            'six decimals' => ['1234.567891', 1234.567891],
        ];
    }

    /** @dataProvider amounts */
    public function testMoneyKeepsSixDecimals(string $digits, float $amount): void
    {
        $before = ini_set('serialize_precision', '17');
        try {
            $price = Price::fromArray(Json::decodeObject("{\"amount\":$digits,\"currency\":\"USD\"}"));
            $written = Json::encode($price);
            self::assertSame('17', ini_get('serialize_precision'));
        } finally {
            ini_set('serialize_precision', (string) $before);
        }
        self::assertSame($amount, $price->amount);
        preg_match('/"amount":([^,]+)/', $written, $match);
        self::assertSame(sprintf('%.6F', (float) $digits), sprintf('%.6F', (float) $match[1]));
        self::assertLessThanOrEqual(13, strlen($match[1]), 'no digits that are not its own');
    }

    public function testEveryAmountOfMillionthsComesBack(): void
    {
        mt_srand(7);
        for ($i = 0; $i < 20000; $i++) {
            $millionths = mt_rand(0, 1_000_000_000_000);
            $digits = sprintf('%d.%06d', intdiv($millionths, 1_000_000), $millionths % 1_000_000);
            $wire = Json::encode(new Price(amount: (float) $digits, currency: 'USD'));
            preg_match('/"amount":([^,]+)/', $wire, $match);
            if (!str_contains($match[1], 'e')) {
                $expected = rtrim(rtrim($digits, '0'), '.');
                self::assertSame($expected, $match[1]);
            }
        }
    }

    public function testOneOfEveryModelCanBeMadeAndRead(): void
    {
        foreach (glob(__DIR__ . '/../generated/*.php') as $file) {
            $class = 'Pingpost\\Model\\' . basename($file, '.php');
            if (!is_subclass_of($class, Message::class)) {
                self::assertNotEmpty($class::KNOWN);
                continue;
            }
            $wire = self::example($class);
            self::assertSame($wire, Json::encode($class::fromArray(Json::decodeObject($wire))), $class);
        }
    }

    public function testAllThatIsWrongIsToldAtOnce(): void
    {
        try {
            PostRequest::fromArray(['auction_id' => 7, 'lead' => [
                'lead_uuid' => 'u', 'first_name' => null, 'last_name' => 'b', 'email' => 'c', 'phone' => true,
                'address' => 'x',
            ]]);
            self::fail('it was read');
        } catch (ShapeException $e) {
            self::assertSame([
                ['auction_id', 'wrong_type', 'a string'],
                ['bid_token', 'missing_required', 'a string'],
                ['lead.first_name', 'missing_required', 'a string'],
                ['lead.phone', 'wrong_type', 'a string'],
                ['lead.address', 'wrong_type', 'an object'],
            ], $e->faults);
        }
    }

    public function testNumbersAreOfTheirKind(): void
    {
        $ping = ['auction_id' => 'a', 'vertical' => 'v', 'state' => 'CA', 'tcpa_consent' => true];
        self::assertSame(2, PingRequest::fromArray($ping + ['vehicle_count' => 2.0])->vehicleCount);
        self::assertSame(1.0, PingRequest::fromArray($ping + ['ai_quality_score' => 1])->aiQualityScore);
        foreach ([['vehicle_count' => 2.5], ['vehicle_count' => '2'], ['ai_quality_score' => '0.5']] as $wrong) {
            try {
                PingRequest::fromArray($ping + $wrong);
                self::fail('it was read');
            } catch (ShapeException $e) {
                self::assertSame('wrong_type', $e->faults[0][1]);
            }
        }
    }

    public function testMembersOfTheCampaignGoBesideTheOthers(): void
    {
        $ping = new PingRequest('a', 'v', 'CA', true, additional: ['homeowner' => true]);
        self::assertSame(
            '{"auction_id":"a","vertical":"v","state":"CA","tcpa_consent":true,"homeowner":true}',
            Json::encode($ping)
        );
        self::assertTrue($ping->has('homeowner'));
        self::assertFalse($ping->has('zip3'));

        $this->expectException(UsageException::class);
        new PingRequest('a', 'v', 'CA', true, additional: ['zip3' => '941']);
    }

    public function testMembersCannotBeChanged(): void
    {
        $change = new StatusBatchChange('lead_1', 'sold');
        $this->expectException(\Error::class);
        $change->status = 'returned';
    }

    public function testNobodyIsShown(): void
    {
        $email = 'annabel.canary@example.com';
        $more = ['nick' => 'Annie'];
        $lead = new IngestRequest(
            campaignId: 'c',
            supplierId: 's',
            firstName: 'Annabel',
            lastName: 'Canaryson',
            phone: '+14155550123',
            email: $email,
            additional: $more
        );
        foreach ([print_r($lead, true), print_r(['deep' => [$lead]], true)] as $shown) {
            self::assertDoesNotMatchRegularExpression('/Anna|Annie|Canary|0123/', $shown);
            self::assertStringContainsString('withheld', $shown);
        }
    }

    /** @param class-string<Message> $class */
    private static function example(string $class): string
    {
        $parts = [];
        foreach ((new \ReflectionClassConstant($class, 'MEMBERS'))->getValue() as $name => [, $type]) {
            $one = match ($of = is_array($type) ? $type[0] : $type) {
                'string' => '"x"',
                'int' => '7',
                'float' => '0.5',
                'bool' => 'true',
                default => self::example($of),
            };
            $parts[] = "\"$name\":" . (is_array($type) ? "[$one]" : $one);
        }
        return '{' . implode(',', $parts) . '}';
    }
}
