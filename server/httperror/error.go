package httperror

import (
	"math"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
)

// Error is an error in the form of the API: status, code and message. The zero Error means
// success.
type Error struct {
	Status          int
	Code            string // on the wire
	Message         string // for a person
	retryAfter      int    // seconds, for the Retry-After header; 0: no header
	WrongCredential bool   // the request carried a wrong credential
}

func (f Error) Error() string { return f.Message }

// New returns an API error. For the statuses 502, 503 and 504 its answer asks the client to
// retry after a second.
func New(status int, code, message string) Error {
	f := Error{Status: status, Code: code, Message: message}
	if status >= fasthttp.StatusBadGateway && status <= fasthttp.StatusGatewayTimeout {
		f.retryAfter = 1
	}
	return f
}

// WithRetryAfter returns a copy of the error that asks the client to retry after this time,
// rounded up to seconds.
func (f Error) WithRetryAfter(wait time.Duration) Error {
	f.retryAfter = int(math.Ceil(wait.Seconds()))
	return f
}

// CountedAsWrongCredential returns a copy of the error that counts as a wrong credential:
// ratelimit.AuthFailureLimiter limits how often a client may cause it.
func (f Error) CountedAsWrongCredential() Error {
	f.WrongCredential = true
	return f
}

var (
	NotFound          = New(404, errcode.NotFound, "There is no such path. The documentation lists the paths of the API.")
	MethodNotAllowed  = New(405, errcode.MethodNotAllowed, "This path does not support this method; the Allow header lists the supported ones.")
	Forbidden         = New(403, errcode.Forbidden, "This API key may not send leads for this supplier into this campaign.")
	RateLimited       = New(429, errcode.RateLimited, "Too many requests. Send this request again after the time in Retry-After.")
	BodyTooLarge      = New(413, errcode.PayloadTooLarge, "The body is larger than the limit, which is 64 KiB by default.")
	LeadTooLarge      = New(413, errcode.PayloadTooLarge, "The lead is larger than the exchange can store. Send fewer or shorter fields.")
	MediaType         = New(415, errcode.UnsupportedMediaType, "The body must be JSON, sent as Content-Type: application/json.")
	Framing           = New(400, errcode.MalformedRequest, "The request is not well-formed HTTP: its length must be given once, in one way, and its header lines must be valid.")
	BareLineFeed      = New(400, errcode.MalformedRequest, "A line of the request's head ends in a bare line feed. End each line with a carriage return and a line feed.")
	Trailer           = New(400, errcode.MalformedRequest, "The chunked body has trailer fields, or a bare line feed after its last chunk. End the body with 0, CR LF, CR LF.")
	Fragment          = New(400, errcode.MalformedRequest, "The request target has a fragment. Send the target without the # and the text after it.")
	BadEscape         = New(400, errcode.MalformedRequest, "The request target has a % that is not followed by two hexadecimal digits. Send %25 for the sign itself.")
	BadAuthority      = New(400, errcode.MalformedRequest, "The request target has no host, or a user before its host. Send a path, or http://host/path.")
	RepeatedHeader    = New(400, errcode.MalformedRequest, "x-api-key, Idempotency-Key or Authorization is repeated. Send each header once.")
	Version           = New(505, errcode.HTTPVersionNotSupported, "Only HTTP/1.1 and HTTP/1.0 are supported. Send the request in one of them.")
	RequestTimeout    = New(408, errcode.RequestTimeout, "The request did not arrive in time. Send it again in one piece.")
	HeaderTooLarge    = New(431, errcode.HeaderTooLarge, "The request's headers are larger than the limit. Send fewer or shorter headers.")
	InvalidPayload    = New(422, errcode.InvalidPayload, "The payload is invalid; field_errors lists the fields and what is expected.")
	KeyReused         = New(422, errcode.IdempotencyKeyReused, "This Idempotency-Key was used with another body. Use a new key for a new request.")
	AuctionExists     = New(409, errcode.AuctionExists, "This auction_id was used before under another Idempotency-Key. Send the ping under that key to receive its answer again, or use a new auction_id.")
	AlreadySold       = New(409, errcode.AlreadySold, "Another Idempotency-Key has already sold this auction. Send the post under that key to receive its answer again.")
	BidExpired        = New(410, errcode.BidExpired, "The bid has expired. Send a new ping.")
	InvalidBidToken   = New(422, errcode.InvalidBidToken, "The bid_token does not belong to this auction of this supplier. Send the auction_id and the bid_token of the same answer to a ping.")
	PostRejected      = New(422, errcode.PostRejected, "The lead was not sold; reason says why. The bid is not paid.")
	ByteRateLimited   = New(429, errcode.RateLimited, "The bodies of your requests exceed the byte rate. Send smaller bodies, or this request again after the time in Retry-After.")
	TooManyAuctions   = New(429, errcode.RateLimited, "Too many auctions of this supplier are open. Send this request again after the time in Retry-After.").WithRetryAfter(time.Second)
	BuyerUnavailable  = New(502, errcode.BuyerUnavailable, "The attempts to post the lead to the buyer have failed so far; the exchange continues the delivery. Send the same request under the same Idempotency-Key to receive its result.")
	BuyerTimeout      = New(504, errcode.BuyerTimeout, "The buyer did not answer in time; the exchange continues the delivery. Send the same request under the same Idempotency-Key to receive its result.")
	UnknownLead       = New(404, errcode.NotFound, "There is no lead of this id, or it is not yours.")
	InvalidTransition = New(409, errcode.InvalidTransition, "The lead cannot change from its current status to this one.")
	Internal          = New(500, errcode.Internal, "An internal error occurred. You may send the request again; quote request_id when you report the error.")
	Unavailable       = New(503, errcode.Unavailable, "The exchange accepts no requests at present. Send this request again after the time in Retry-After.")
)
