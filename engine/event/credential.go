package event

import (
	"pingpost/engine/market"
)

// CredentialKind is how a caller authenticates with a credential. The numbers are in the log.
type CredentialKind uint8

const (
	CredentialAPIKey      CredentialKind = 1 // a supplier's, for the ingest paths
	CredentialOAuthClient CredentialKind = 2 // a client's secret, exchanged for tokens
	CredentialBearer      CredentialKind = 3 // a sandbox's static token
)

var credentialNames = [...]string{"invalid", "api_key", "oauth_client", "bearer"}

func (k CredentialKind) String() string {
	return market.EnumName(credentialNames[:], int(k), "invalid")
}

// CredentialSet adds or revokes a credential of a supplier or buyer. It holds the credential's
// hash, never its value.
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

func (c *CredentialSet) encodeOrDecode(pb *protobufCodec) {
	enumField(pb, 1, &c.Credential)
	enumField(pb, 2, &c.Owner)
	uint32Field(pb, 3, &c.OwnerRef)
	fixedBytesField(pb, 4, c.Hash[:], true)
	stringField(pb, 5, &c.Hint)
	boolField(pb, 6, &c.Revoked)
	fixed64Field(pb, 7, &c.At)
	stringField(pb, 8, &c.Client)
	enumField(pb, 9, &c.Scopes)
	stringField(pb, 10, &c.By)
}

// SecretSet stores a secret that the exchange presents to others, for example to a buyer's
// endpoint. Sealed is the secret, encrypted with the exchange's own key.
type SecretSet struct {
	Name   string // such as buyer/buy_blue/bearer
	Sealed []byte // empty: the secret is deleted
	At     int64
	By     string // requesting operator; empty: no operator, or an earlier program wrote the event
}

func (*SecretSet) Kind() Kind { return KindSecretSet }
func (s *SecretSet) reset()   { *s = SecretSet{} }

func (s *SecretSet) encodeOrDecode(pb *protobufCodec) {
	stringField(pb, 1, &s.Name)
	bytesField(pb, 2, &s.Sealed)
	fixed64Field(pb, 3, &s.At)
	stringField(pb, 4, &s.By)
}
