package server

import "pingpost/api/errcode"

// fault is an error of the HTTP layer: its status, its code on the wire, and
// what a person is told.
type fault struct {
	status  int
	code    string
	message string
}

var (
	faultNotFound     = fault{404, errcode.NotFound, "There is nothing at this path. The interface's paths are listed in the documentation."}
	faultMethod       = fault{405, errcode.MethodNotAllowed, "This path does not take this method; the Allow header says which it takes."}
	faultNoKey        = fault{401, errcode.Unauthorized, "The x-api-key header is missing. Send the supplier's API key in it."}
	faultBadKey       = fault{401, errcode.Unauthorized, "The API key in x-api-key is not known, or no longer good. Use a current key of the supplier."}
	faultForbidden    = fault{403, errcode.Forbidden, "This API key may not send leads for this supplier into this campaign."}
	faultLimited      = fault{429, errcode.RateLimited, "Too many requests at once. Send this one again after the time in Retry-After."}
	faultTooLarge     = fault{413, errcode.PayloadTooLarge, "The body is over the limit, which is 64 KiB by default."}
	faultTooLong      = fault{413, errcode.PayloadTooLarge, "The lead is larger than the exchange can keep. Send fewer or shorter fields."}
	faultMediaType    = fault{415, errcode.UnsupportedMediaType, "The body must be JSON, sent as Content-Type: application/json."}
	faultFraming      = fault{400, errcode.MalformedRequest, "The request is not well-formed HTTP: its length must be given once, in one way, and its header lines must be valid."}
	faultRepeated     = fault{400, errcode.MalformedRequest, "x-api-key, Idempotency-Key or Authorization is there more than once. Send each once."}
	faultVersion      = fault{505, errcode.HTTPVersionNotSupported, "HTTP/1.1 and HTTP/1.0 are spoken here. Send the request in one of them."}
	faultSlow         = fault{408, errcode.RequestTimeout, "The request did not arrive in time. Send it again in one piece."}
	faultHeader       = fault{431, errcode.HeaderTooLarge, "The request's header lines are over the limit."}
	faultPayload      = fault{422, errcode.InvalidPayload, "The payload does not fit; field_errors says which fields, and what is expected."}
	faultKeyReused    = fault{422, errcode.IdempotencyKeyReused, "This Idempotency-Key came with another body before. Use a new key for a new request."}
	faultBuyersToken  = fault{403, errcode.Forbidden, "The token is a buyer's, and only sellers ping and post here. Use a token of a supplier's client."}
	faultAuctionKnown = fault{409, errcode.AuctionExists, "This auction_id came before, under another Idempotency-Key. Send it under that key to hear its answer again, or take a new auction_id."}
	faultSold         = fault{409, errcode.AlreadySold, "This auction's bid was taken already, under another Idempotency-Key. Send the post under that key to hear its answer again."}
	faultExpired      = fault{410, errcode.BidExpired, "The bid is no longer open. Send a new ping."}
	faultBidToken     = fault{422, errcode.InvalidBidToken, "The bid_token is not one of this auction and this seller. Send the auction_id and the bid_token of one answer to a ping."}
	faultRejected     = fault{422, errcode.PostRejected, "The lead was not taken; reason says why. The bid brings nothing for it."}
	faultAuctions     = fault{429, errcode.RateLimited, "Too many auctions of this seller are open at once. Send this one again after the time in Retry-After."}
	faultUnreachable  = fault{502, errcode.BuyerUnavailable, "The buyer could not be reached in time; the delivery goes on. Send the same request under the same Idempotency-Key to hear what became of it."}
	faultNoAnswer     = fault{504, errcode.BuyerTimeout, "The buyer did not answer in time; the delivery goes on. Send the same request under the same Idempotency-Key to hear what became of it."}
	faultNoLead       = fault{404, errcode.NotFound, "There is no lead of this id that concerns you."}
	faultTransition   = fault{409, errcode.InvalidTransition, "From where the lead stands it does not come to this status."}
	faultSellersToken = fault{403, errcode.Forbidden, "The token is a supplier's, and what became of a lead is for its buyer to report. Use a token of the buyer's client."}
	faultBatch        = fault{413, errcode.PayloadTooLarge, "The body is over the limit of a batch. Report on fewer leads at once."}
	faultInternal     = fault{500, errcode.Internal, "Something went wrong here. The request may be sent again; request_id helps to find out what it was."}
	faultUnavailable  = fault{503, errcode.Unavailable, "The exchange takes no requests right now. Send this one again after the time in Retry-After."}
	faultCrowded      = fault{503, errcode.Unavailable, "Too many connections are open. Use fewer and keep them, and try again after the time in Retry-After."}
	faultDocument     = fault{413, errcode.PayloadTooLarge, "A configuration that is sent may have 4 MiB. Put a larger one into the file, and send SIGHUP."}
	faultEntry        = fault{413, errcode.PayloadTooLarge, "An entry that is sent may have 1 MiB. Put a larger one into the configuration's file, and send SIGHUP."}
	faultUpload       = fault{413, errcode.PayloadTooLarge, "A suppression list that is sent may have 4 GiB and 50,000,000 entries. Divide it into several lists."}
	faultUploading    = fault{409, errcode.Conflict, "Another suppression list is being uploaded. Send this one once that one has ended."}
	faultApplying     = fault{409, errcode.Conflict, "Another configuration is being put into force. Look at what it changed, then send this one again."}
	faultForeign      = fault{403, errcode.Forbidden, "A page of another origin made a browser send this. Send it from a page of this address, or without a browser."}
	faultAdminMissing = fault{401, errcode.Unauthorized, "This address asks who you are: by a session, a personal API token as a bearer token, or the operator's password by HTTP Basic with any user name."}
	faultBadPassword  = fault{401, errcode.Unauthorized, "The password is not the operator's. Send the right one by HTTP Basic, with any user name."}
)

// malformed is a body that is not the JSON object it should be.
func malformed(what string) fault {
	return fault{400, errcode.MalformedJSON, what}
}
