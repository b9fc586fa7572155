package public

import (
	"crypto/sha256"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/server/connection"
	"pingpost/server/httperror"

	"github.com/valyala/fasthttp"
)

// maxKey is the greatest length of an API key in bytes.
const maxKey = 512

// authenticateAPIKey returns the supplier to which the request's API key belongs. If ok is false,
// it has already sent an error.
func (s *Server) authenticateAPIKey(ctx *fasthttp.RequestCtx, id market.RequestID, e *engine.Engine, key []byte, nowNanos int64) (supplier *market.Supplier, ok bool) {
	supplier, bad := s.findSupplierAndRecordKeyUse(e, key, nowNanos)
	if bad.Status != 0 {
		s.sendAuthenticationError(ctx, id, bad)
		return nil, false
	}
	connection.MarkAuthenticated(ctx)
	return supplier, true
}

// findSupplierAndRecordKeyUse returns the supplier to which an API key belongs, and records the use of
// the key at the time nowNanos. It finds the key by its hash, so the time that it takes reveals no
// part of a valid key.
func (s *Server) findSupplierAndRecordKeyUse(e *engine.Engine, key []byte, nowNanos int64) (keyOwner *market.Supplier, failure httperror.Error) {
	if len(key) == 0 {
		return nil, errNoKey
	}
	if len(key) > maxKey {
		return nil, errBadKey
	}
	credential, ok := e.State().CredentialByHash(sha256.Sum256(key))
	if !ok || credential.Kind != event.CredentialAPIKey || credential.Owner != event.ObjectSupplier {
		return nil, errBadKey
	}
	supplier := (*s.suppliers.Load())[credential.Ref]
	if supplier == nil { // removed from the configuration
		return nil, errBadKey
	}
	credential.LastUse.RecordUse(nowNanos)
	return supplier, httperror.Error{}
}
