package public

import (
	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/server/httperror"
)

var (
	errNoKey            = httperror.New(401, errcode.Unauthorized, "The x-api-key header is missing. Send the supplier's API key in it.")
	errBadKey           = httperror.New(401, errcode.Unauthorized, "The API key in x-api-key is unknown or was revoked. Use a current key of the supplier.").CountedAsWrongCredential()
	errTooManyDocuments = httperror.New(429, errcode.RateLimited, "Too many documents were sent to this address. Try again after the time in Retry-After, and keep a copy: the documents change rarely.")
	errBuyersToken      = httperror.New(403, errcode.Forbidden, "The token belongs to a buyer, and only suppliers may ping and post. Use a token of a supplier's client.")
	errSellersToken     = httperror.New(403, errcode.Forbidden, "The token belongs to a supplier, and only the buyer of a lead may report on it. Use a token of the buyer's client.")
	errBatchTooLarge    = httperror.New(413, errcode.PayloadTooLarge, "The batch is larger than the limit. Report on fewer leads per request.")
)

// sendAuthenticationError answers a request with a missing, wrong or insufficient credential.
// Too many wrong ones from one client network get a 429.
func (s *Server) sendAuthenticationError(ctx *fasthttp.RequestCtx, id market.RequestID, bad httperror.Error) {
	httperror.Write(ctx, id, s.authFailures.CountFailureAndSelectError(ctx, bad, s.clock.Now()))
}
