// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// ErrorCode is: The error's code, for programs. Each code has one status. In a result of a batch there is no separate status.
// Others than those below may come.
type ErrorCode string

const (
	ErrorCodeMalformedJSON           ErrorCode = "malformed_json"
	ErrorCodeMalformedRequest        ErrorCode = "malformed_request"
	ErrorCodeInvalidRequest          ErrorCode = "invalid_request"
	ErrorCodeUnsupportedGrantType    ErrorCode = "unsupported_grant_type"
	ErrorCodeInvalidScope            ErrorCode = "invalid_scope"
	ErrorCodeUnauthorized            ErrorCode = "unauthorized"
	ErrorCodeInvalidClient           ErrorCode = "invalid_client"
	ErrorCodeForbidden               ErrorCode = "forbidden"
	ErrorCodeInsufficientScope       ErrorCode = "insufficient_scope"
	ErrorCodeNotFound                ErrorCode = "not_found"
	ErrorCodeMethodNotAllowed        ErrorCode = "method_not_allowed"
	ErrorCodeRequestTimeout          ErrorCode = "request_timeout"
	ErrorCodeAuctionExists           ErrorCode = "auction_exists"
	ErrorCodeAlreadySold             ErrorCode = "already_sold"
	ErrorCodeInvalidTransition       ErrorCode = "invalid_transition"
	ErrorCodeBidExpired              ErrorCode = "bid_expired"
	ErrorCodePayloadTooLarge         ErrorCode = "payload_too_large"
	ErrorCodeUnsupportedMediaType    ErrorCode = "unsupported_media_type"
	ErrorCodeInvalidPayload          ErrorCode = "invalid_payload"
	ErrorCodeIdempotencyKeyReused    ErrorCode = "idempotency_key_reused"
	ErrorCodeInvalidBidToken         ErrorCode = "invalid_bid_token"
	ErrorCodePostRejected            ErrorCode = "post_rejected"
	ErrorCodeRateLimited             ErrorCode = "rate_limited"
	ErrorCodeHeaderTooLarge          ErrorCode = "header_too_large"
	ErrorCodeInternal                ErrorCode = "internal"
	ErrorCodeBuyerUnavailable        ErrorCode = "buyer_unavailable"
	ErrorCodeUnavailable             ErrorCode = "unavailable"
	ErrorCodeBuyerTimeout            ErrorCode = "buyer_timeout"
	ErrorCodeHTTPVersionNotSupported ErrorCode = "http_version_not_supported"
)
