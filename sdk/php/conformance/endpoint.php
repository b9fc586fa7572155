<?php

declare(strict_types=1);

// A buyer with the SDK, as a page of PHP's own server. FOLDER contains the suite's instructions.

use Pingpost\Buyer\Access;
use Pingpost\Buyer\Bid;
use Pingpost\Buyer\Endpoint;
use Pingpost\Buyer\FileReplyStore;
use Pingpost\Buyer\NoBid;
use Pingpost\Buyer\Refusal;
use Pingpost\Buyer\Sapi;
use Pingpost\Json;
use Pingpost\Message;
use Pingpost\Model\LeadDelivery;
use Pingpost\Model\PingRequest;

require __DIR__ . '/../tests/autoload.php';

$folder = (string) getenv('FOLDER');
$script = json_decode((string) file_get_contents("$folder/script.json"), true);
$told = json_decode((string) file_get_contents("$folder/serve.json"), true);
['credential' => $credential, 'prefix' => $prefix] = $told;

$note = static function (string $where, Message $what) use ($folder): void {
    file_put_contents("$folder/$where", Json::encode($what) . "\n", FILE_APPEND | LOCK_EX);
};
$act = static function (string $function) use ($script): void {
    usleep((int) (($script["{$function}_sleep_seconds"] ?? $script['sleep_seconds'] ?? 0) * 1e6));
    if ($script["{$function}_raise"] ?? $script['raise'] ?? false) {
        throw new RuntimeException('as the script says');
    }
};

Sapi::run(new Endpoint(
    bid: static function (PingRequest $ping) use ($script, $note, $act): Bid|NoBid {
        $note('pings', $ping);
        $act('bid');
        if (!isset($script['bid'])) {
            return new NoBid($script['no_bid']['reason'] ?? 'no_bid', $script['no_bid']['detail'] ?? 'not wanted');
        }
        $until = $script['bid']['valid_until'] ?? null;
        return new Bid(
            amount: $script['bid']['amount'],
            currency: $script['bid']['currency'] ?? null,
            token: $script['bid']['token'] ?? null,
            validUntil: $until === null ? null : new DateTimeImmutable($until),
        );
    },
    post: static function (LeadDelivery $post) use ($script, $note, $act): string|int|null|Refusal {
        $note('posts', $post);
        $act('post');
        return isset($script['refuse']) ? new Refusal($script['refuse']['reason']) : $script['post']['lead_id'] ?? null;
    },
    access: match (true) {
        isset($credential['bearer']) => Access::bearer($credential['bearer']),
        isset($credential['api_key']) => Access::apiKey($credential['api_key']),
        default => null,
    },
    replies: new FileReplyStore("$folder/replies"),
    prefix: $prefix,
));
