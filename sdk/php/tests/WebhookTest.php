<?php

declare(strict_types=1);

namespace Pingpost\Tests;

use PHPUnit\Framework\TestCase;
use Pingpost\Exception\SignatureException;
use Pingpost\Exception\UsageException;
use Pingpost\Model\LeadEventType;
use Pingpost\Webhook;

final class WebhookTest extends TestCase
{
    private const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    private const OTHER = 'whsec_b3RoZXI=';
    private const NOW = 1772471047;
    private const BODY = '{"id":"evt_1","type":"lead.posted","created_at":"2026-03-02T17:04:05.5Z","data":{'
        . '"lead_id":"lead_1","lead_uuid":null,"auction_id":null,"campaign_id":"c","supplier_id":"s","buyer_id":"b",'
        . '"status":"ACCEPTED","price":{"amount":10.123456,"currency":"USD"},"reason":null}}';

    public function testTheKnownVectorOfStandardWebhooks(): void
    {
        // From the Standard Webhooks specification's own libraries.
        $this->expectException(SignatureException::class);
        $this->expectExceptionMessage('signed, but is no event');
        Webhook::verify('{"test": 2432232314}', [
            'webhook-id' => 'msg_p5jXN8AQM9LWM0D4loKWxJek',
            'webhook-timestamp' => '1614265330',
            'webhook-signature' => 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
        ], self::SECRET, now: 1614265330);
    }

    /** @return array<string, array{array<string, string|list<string>>}> */
    public function good(): array
    {
        $own = self::own();
        $trio = self::trio();
        return [
            'both' => [$own + $trio],
            'its own' => [$own],
            'standard' => [$trio],
            'in other letters' => [['X-PINGPOST-SIGNATURE' => $own['X-Pingpost-Signature']]],
            'as PSR-7 has them' => [array_map(fn (string $value) => [$value], $own + $trio)],
            'two of which one is ours' => [[
                'X-Pingpost-Signature' => $own['X-Pingpost-Signature'] . ',v1=' . str_repeat('0', 64),
            ]],
            'standard, two' => [['webhook-signature' => 'v1,AAAA ' . $trio['webhook-signature']] + $trio],
            'a newer form beside' => [['webhook-signature' => 'v2,x ' . $trio['webhook-signature']] + $trio],
            'as late as may be' => [self::own(self::NOW - 300)],
            'as early as may be' => [self::own(self::NOW + 300) + self::trio(self::NOW + 300)],
        ];
    }

    /**
     * @dataProvider good
     * @param array<string, string|list<string>> $headers
     */
    public function testTheExchangesAreTaken(array $headers): void
    {
        $event = Webhook::verify(self::BODY, $headers, [self::OTHER, self::SECRET], now: self::NOW);
        self::assertSame(LeadEventType::LEAD_POSTED, $event->type);
        self::assertSame(10.123456, $event->data->price->amount);
        self::assertNull($event->data->leadUuid);
        self::assertFalse($event->data->has('reversed'));
    }

    /** @return array<string, array{array<string, string|list<string>>}> */
    public function bad(): array
    {
        $own = self::own();
        $trio = self::trio();
        $t = 't=' . self::NOW;
        $right = substr($own['X-Pingpost-Signature'], strlen($t) + 4);
        return [
            'none' => [['Content-Type' => 'application/json']],
            'another secret' => [self::own(secret: 'whsec_eA==')],
            'standard with another secret' => [self::trio(secret: 'whsec_eA==')],
            'its own right, standard wrong' => [$own + self::trio(secret: 'whsec_eA==')],
            'standard right, its own wrong' => [$trio + self::own(secret: 'whsec_eA==')],
            'too old' => [self::own(self::NOW - 301)],
            'too new' => [self::own(self::NOW + 301)],
            'standard too old' => [self::trio(self::NOW - 301)],
            'one too old' => [$own + self::trio(self::NOW - 301)],
            'another body' => [self::own(body: self::BODY . ' ')],
            'another id' => [['webhook-id' => 'evt_2'] + $trio],
            'another time' => [['X-Pingpost-Signature' => 't=' . (self::NOW + 1) . ",v1=$right"]],
            'no time' => [['X-Pingpost-Signature' => "v1=$right"]],
            'no number' => [['X-Pingpost-Signature' => "t=now,v1=$right"]],
            'two times' => [['X-Pingpost-Signature' => "$t,$t,v1=$right"]],
            'nothing beside the time' => [['X-Pingpost-Signature' => $t]],
            'an empty one' => [['X-Pingpost-Signature' => "$t,v1="]],
            'half of it' => [['X-Pingpost-Signature' => "$t,v1=" . substr($right, 0, 32)]],
            'another form' => [['X-Pingpost-Signature' => "$t,v0=$right"]],
            'empty' => [['X-Pingpost-Signature' => '']],
            'twice' => [['X-Pingpost-Signature' => [$own['X-Pingpost-Signature'], $own['X-Pingpost-Signature']]]],
            'standard without id' => [array_diff_key($trio, ['webhook-id' => 1])],
            'standard without time' => [array_diff_key($trio, ['webhook-timestamp' => 1])],
            'standard without signature' => [$own + array_diff_key($trio, ['webhook-signature' => 1])],
            'standard in hex' => [['webhook-signature' => 'v1,' . $right] + $trio],
        ];
    }

    /**
     * @dataProvider bad
     * @param array<string, string|list<string>> $headers
     */
    public function testOthersAreRefused(array $headers): void
    {
        $this->expectException(SignatureException::class);
        Webhook::verify(self::BODY, $headers, self::SECRET, now: self::NOW);
    }

    public function testTheToleranceIsTheCallers(): void
    {
        $event = Webhook::verify(self::BODY, self::own(self::NOW - 900), self::SECRET, 900, self::NOW);
        self::assertSame('evt_1', $event->id);
        $this->expectException(SignatureException::class);
        Webhook::verify(self::BODY, self::own(self::NOW - 11), self::SECRET, 10, self::NOW);
    }

    public function testTheClockIsTheMachinesWhereNoneIsGiven(): void
    {
        self::assertSame('evt_1', Webhook::verify(self::BODY, self::own(time()), self::SECRET)->id);
        $this->expectException(SignatureException::class);
        Webhook::verify(self::BODY, self::own(), self::SECRET);
    }

    public function testASecretThatIsNoneIsTheCallersMistake(): void
    {
        foreach ([[], 'secret', 'whsec_', 'whsec_***', ''] as $secrets) {
            try {
                Webhook::verify(self::BODY, self::own(), $secrets, now: self::NOW);
                self::fail('it was taken');
            } catch (UsageException $e) {
                self::assertStringNotContainsString('***', $e->getMessage());
            }
        }
    }

    /** @return array<string, string> */
    private static function own(int $at = self::NOW, string $secret = self::SECRET, string $body = self::BODY): array
    {
        return ['X-Pingpost-Signature' => "t=$at,v1=" . hash_hmac('sha256', "$at.$body", self::key($secret))];
    }

    /** @return array<string, string> */
    private static function trio(int $at = self::NOW, string $secret = self::SECRET): array
    {
        $signed = 'evt_1.' . $at . '.' . self::BODY;
        return [
            'webhook-id' => 'evt_1',
            'webhook-timestamp' => (string) $at,
            'webhook-signature' => 'v1,' . base64_encode(hash_hmac('sha256', $signed, self::key($secret), true)),
        ];
    }

    private static function key(string $secret): string
    {
        return (string) base64_decode(substr($secret, 6));
    }
}
