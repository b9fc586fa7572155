package public

import (
	"crypto/sha256"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/server/httperror"
)

// maxKey is the longest API key that is valid.
const maxKey = 512

// authenticateAPIKey returns the supplier of an API key and records the use of the key. It
// looks up the key's hash in a map, so its time does not depend on any key.
func (s *Server) authenticateAPIKey(key []byte, now int64) (*market.Supplier, httperror.Error) {
	if len(key) == 0 {
		return nil, errNoKey
	}
	if len(key) > maxKey {
		return nil, errBadKey
	}
	credential, ok := s.engine.State().CredentialByHash(sha256.Sum256(key))
	if !ok || credential.Kind != event.CredentialAPIKey || credential.Owner != event.ObjectSupplier {
		return nil, errBadKey
	}
	supplier := (*s.suppliers.Load())[credential.Ref]
	if supplier == nil { // removed from the configuration
		return nil, errBadKey
	}
	credential.LastUse.RecordUse(now)
	return supplier, httperror.Error{}
}
