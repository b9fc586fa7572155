package server

import (
	"crypto/sha256"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// maxKey bounds an API key; longer ones are nobody's.
const maxKey = 512

// supplierOf finds whose API key came with the request. Only the key's hash is
// compared, by a map look-up, so the time it takes says nothing of any key. That the
// key was used now is noted.
func (s *Server) supplierOf(key []byte, now int64) (*market.Supplier, fault) {
	if len(key) == 0 {
		return nil, faultNoKey
	}
	if len(key) > maxKey {
		return nil, faultBadKey
	}
	credential, ok := s.engine.State().Credential(sha256.Sum256(key))
	if !ok || credential.Kind != event.CredentialAPIKey || credential.Owner != event.NameSupplier {
		return nil, faultBadKey
	}
	supplier := (*s.suppliers.Load())[credential.Ref]
	if supplier == nil { // configured once, and gone
		return nil, faultBadKey
	}
	credential.Used.Note(now)
	return supplier, fault{}
}
