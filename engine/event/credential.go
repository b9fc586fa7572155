package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// CredentialKind is the use of a credential. Numbers are in the log.
type CredentialKind uint8

const (
	CredentialAPIKey      CredentialKind = 1 // a supplier's, for the ingest paths
	CredentialOAuthClient CredentialKind = 2 // a client's secret, exchanged for tokens
	CredentialBearer      CredentialKind = 3 // a sandbox's static token
)

func (k CredentialKind) String() string {
	switch k {
	case CredentialAPIKey:
		return "api_key"
	case CredentialOAuthClient:
		return "oauth_client"
	case CredentialBearer:
		return "bearer"
	}
	return "invalid"
}

// CredentialSet adds or revokes a credential. It holds only the hash.
type CredentialSet struct {
	Credential CredentialKind
	Owner      ObjectKind
	OwnerRef   market.Ref
	Hash       [32]byte
	Hint       string // the first characters, for operators
	Revoked    bool
	At         int64
	Client     string      // of an OAuth client's secret: the client
	Scopes     TokenScopes // none for an API key
	By         string      // requesting operator; empty: no operator, or an earlier program wrote the event
}

func (*CredentialSet) Kind() Kind { return KindCredentialSet }
func (c *CredentialSet) reset()   { *c = CredentialSet{} }

func (c *CredentialSet) marshal(mm openMessage) {
	putUint(mm, 1, uint64(c.Credential))
	putUint(mm, 2, uint64(c.Owner))
	putUint(mm, 3, uint64(c.OwnerRef))
	mm.AppendBytes(4, c.Hash[:])
	putString(mm, 5, c.Hint)
	putBool(mm, 6, c.Revoked)
	putFixed(mm, 7, uint64(c.At))
	putString(mm, 8, c.Client)
	putUint(mm, 9, uint64(c.Scopes))
	putString(mm, 10, c.By)
}

func (c *CredentialSet) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getByte(fc, &c.Credential)
	case 2:
		return getByte(fc, &c.Owner)
	case 3:
		return getRef(fc, &c.OwnerRef)
	case 4:
		hash, ok := fc.Bytes()
		return ok && copy(c.Hash[:], hash) == len(c.Hash) && len(hash) == len(c.Hash)
	case 5:
		return getString(fc, &c.Hint)
	case 6:
		return getBool(fc, &c.Revoked)
	case 7:
		return getFixed(fc, &c.At)
	case 8:
		return getString(fc, &c.Client)
	case 9:
		return getByte(fc, &c.Scopes)
	case 10:
		return getString(fc, &c.By)
	}
	return true
}

// SecretSet stores a secret that the exchange itself presents, for example to a buyer's
// endpoint. The exchange's own key seals it.
type SecretSet struct {
	Name   string // such as buyer/buy_blue/bearer
	Sealed []byte // empty: the secret is deleted
	At     int64
	By     string // requesting operator; empty: no operator, or an earlier program wrote the event
}

func (*SecretSet) Kind() Kind { return KindSecretSet }
func (s *SecretSet) reset()   { *s = SecretSet{} }

func (s *SecretSet) marshal(mm openMessage) {
	putString(mm, 1, s.Name)
	putBytes(mm, 2, s.Sealed)
	putFixed(mm, 3, uint64(s.At))
	putString(mm, 4, s.By)
}

func (s *SecretSet) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getString(fc, &s.Name)
	case 2:
		return getBytes(fc, &s.Sealed)
	case 3:
		return getFixed(fc, &s.At)
	case 4:
		return getString(fc, &s.By)
	}
	return true
}
