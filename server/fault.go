package server

// fault is an error of the HTTP layer: its status, its code on the wire, and
// what a person is told.
type fault struct {
	status  int
	code    string
	message string
}

var (
	faultNotFound     = fault{404, "not_found", "There is nothing at this path. The interface's paths are listed in the documentation."}
	faultMethod       = fault{405, "method_not_allowed", "This path does not take this method; the Allow header says which it takes."}
	faultNoKey        = fault{401, "unauthorized", "The x-api-key header is missing. Send the supplier's API key in it."}
	faultBadKey       = fault{401, "unauthorized", "The API key in x-api-key is not known, or no longer good. Use a current key of the supplier."}
	faultForbidden    = fault{403, "forbidden", "This API key may not send leads for this supplier into this campaign."}
	faultLimited      = fault{429, "rate_limited", "Too many requests at once. Send this one again after the time in Retry-After."}
	faultTooLarge     = fault{413, "payload_too_large", "The body is over the limit, which is 64 KiB by default."}
	faultTooLong      = fault{413, "payload_too_large", "The lead is larger than the exchange can keep. Send fewer or shorter fields."}
	faultMediaType    = fault{415, "unsupported_media_type", "The body must be JSON, sent as Content-Type: application/json."}
	faultFraming      = fault{400, "malformed_request", "The request is not well-formed HTTP: its length must be given once, in one way, and its header lines must be valid."}
	faultRepeated     = fault{400, "malformed_request", "x-api-key, Idempotency-Key or Authorization is there more than once. Send each once."}
	faultVersion      = fault{505, "http_version_not_supported", "HTTP/1.1 and HTTP/1.0 are spoken here. Send the request in one of them."}
	faultSlow         = fault{408, "request_timeout", "The request did not arrive in time. Send it again in one piece."}
	faultHeader       = fault{431, "header_too_large", "The request's header lines are over the limit."}
	faultPayload      = fault{422, "invalid_payload", "The payload does not fit; field_errors says which fields, and what is expected."}
	faultKeyReused    = fault{422, "idempotency_key_reused", "This Idempotency-Key came with another body before. Use a new key for a new request."}
	faultBuyersToken  = fault{403, "forbidden", "The token is a buyer's, and only sellers ping and post here. Use a token of a supplier's client."}
	faultAuctionKnown = fault{409, "auction_exists", "This auction_id came before, under another Idempotency-Key. Send it under that key to hear its answer again, or take a new auction_id."}
	faultSold         = fault{409, "already_sold", "This auction's bid was taken already, under another Idempotency-Key. Send the post under that key to hear its answer again."}
	faultExpired      = fault{410, "bid_expired", "The bid is no longer open. Send a new ping."}
	faultBidToken     = fault{422, "invalid_bid_token", "The bid_token is not one of this auction and this seller. Send the auction_id and the bid_token of one answer to a ping."}
	faultRejected     = fault{422, "post_rejected", "The lead was not taken; reason says why. The bid brings nothing for it."}
	faultAuctions     = fault{429, "rate_limited", "Too many auctions of this seller are open at once. Send this one again after the time in Retry-After."}
	faultUnreachable  = fault{502, "buyer_unavailable", "The buyer could not be reached in time; the delivery goes on. Send the same request under the same Idempotency-Key to hear what became of it."}
	faultNoAnswer     = fault{504, "buyer_timeout", "The buyer did not answer in time; the delivery goes on. Send the same request under the same Idempotency-Key to hear what became of it."}
	faultNoLead       = fault{404, "not_found", "There is no lead of this id that concerns you."}
	faultTransition   = fault{409, "invalid_transition", "From where the lead stands it does not come to this status."}
	faultSellersToken = fault{403, "forbidden", "The token is a supplier's, and what became of a lead is for its buyer to report. Use a token of the buyer's client."}
	faultBatch        = fault{413, "payload_too_large", "The body is over the limit of a batch. Report on fewer leads at once."}
	faultInternal     = fault{500, "internal", "Something went wrong here. The request may be sent again; request_id helps to find out what it was."}
	faultUnavailable  = fault{503, "unavailable", "The exchange takes no requests right now. Send this one again after the time in Retry-After."}
	faultCrowded      = fault{503, "unavailable", "Too many connections are open. Use fewer and keep them, and try again after the time in Retry-After."}
	faultDocument     = fault{413, "payload_too_large", "A configuration that is sent may have 4 MiB. Put a larger one into the file, and send SIGHUP."}
	faultApplying     = fault{409, "conflict", "Another configuration is being put into force. Look at what it changed, then send this one again."}
	faultForeign      = fault{403, "forbidden", "A page of another origin made a browser send this. Send it from a page of this address, or without a browser."}
	faultAdminMissing = fault{401, "unauthorized", "This address asks for the operator's password, by HTTP Basic with any user name."}
	faultBadPassword  = fault{401, "unauthorized", "The password is not the operator's. Send the right one by HTTP Basic, with any user name."}
)

// malformed is a body that is not the JSON object it should be.
func malformed(what string) fault {
	return fault{400, "malformed_json", what}
}
