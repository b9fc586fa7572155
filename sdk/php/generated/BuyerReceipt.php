<?php

declare(strict_types=1);

namespace Pingpost\Model;

use Pingpost\Message;

/**
 * A buyer's acknowledgment of a lead. The exchange reads the buyer's id from `lead_id`, else `id`, else `buyer_lead_id`, else `data.id`: text or a number of at most 128 characters. It can be missing.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class BuyerReceipt extends Message
{
    protected const MEMBERS = [
        'lead_id' => ['leadId', 'string', false, false],
    ];

    /**
     * @param string|null $leadId Your id of the lead.
     * @param array<string, mixed> $additional members beside these, by their names on the wire
     * @param list<string> $nulls which optional members are null rather than absent, by their names on the wire
     */
    public function __construct(
        public readonly ?string $leadId = null,
        array $additional = [],
        array $nulls = [],
    ) {
        parent::__construct($additional, $nulls);
    }
}
