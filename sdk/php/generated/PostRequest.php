<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A lead for the bid of its ping.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class PostRequest extends Message
{
    protected const MEMBERS = [
        'auction_id' => ['auctionId', 'string', true, false],
        'bid_token' => ['bidToken', 'string', true, false],
        'lead' => ['lead', PostLead::class, true, false],
    ];

    /**
     * @param string $auctionId The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
     * @param string $bidToken The `bid_token` of the answer to the ping.
     * @param PostLead $lead
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly string $auctionId,
        public readonly string $bidToken,
        public readonly PostLead $lead,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
