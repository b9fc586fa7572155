package event

import (
	"pingpost/engine/market"
)

// SupplierOrBuyerCredentialKind is how a caller authenticates with a credential. The log stores these
// numbers, so they never change.
type SupplierOrBuyerCredentialKind uint8

const (
	CredentialAPIKey      SupplierOrBuyerCredentialKind = 1 // a supplier's, sent in the header x-api-key
	CredentialOAuthClient SupplierOrBuyerCredentialKind = 2 // a client's secret, exchanged for tokens
	CredentialBearer      SupplierOrBuyerCredentialKind = 3 // a sandbox's static token
)

var credentialNames = [...]string{"invalid", "api_key", "oauth_client", "bearer"}

func (k SupplierOrBuyerCredentialKind) String() string {
	return market.EnumName(credentialNames[:], int(k), "invalid")
}

// CredentialAddedOrRevoked adds or revokes a credential of a supplier or buyer. It holds the
// credential's hash, never its value.
type CredentialAddedOrRevoked struct {
	Credential SupplierOrBuyerCredentialKind
	Owner      ConfigObjectKind
	OwnerRef   market.PermanentNumber
	Hash       [32]byte
	Hint       string // the first characters, for operators
	Revoked    bool
	At         int64
	Client     string      // of an OAuth client's secret: the client
	Scopes     OAuthScopes // none for an API key
	By         string      // requesting operator; empty: no operator, or an earlier program wrote the event
}

func (*CredentialAddedOrRevoked) Kind() Kind { return KindCredentialAddedOrRevoked }
func (c *CredentialAddedOrRevoked) reset()   { *c = CredentialAddedOrRevoked{} }

func (c *CredentialAddedOrRevoked) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeEnum(pb, 1, &c.Credential)
	encodeOrDecodeEnum(pb, 2, &c.Owner)
	encodeOrDecodeUint32(pb, 3, &c.OwnerRef)
	encodeOrDecodeFixedBytes(pb, 4, c.Hash[:], true)
	encodeOrDecodeString(pb, 5, &c.Hint)
	encodeOrDecodeBool(pb, 6, &c.Revoked)
	encodeOrDecodeFixed64(pb, 7, &c.At)
	encodeOrDecodeString(pb, 8, &c.Client)
	encodeOrDecodeEnum(pb, 9, &c.Scopes)
	encodeOrDecodeString(pb, 10, &c.By)
}

// SecretStoredOrDeleted stores a secret that the exchange presents to others, for example to a buyer's
// endpoint. Sealed is the secret, encrypted with the exchange's own key.
type SecretStoredOrDeleted struct {
	Name   string // such as buyer/buy_blue/bearer
	Sealed []byte // empty: the secret is deleted
	At     int64
	By     string // requesting operator; empty: no operator, or an earlier program wrote the event
}

func (*SecretStoredOrDeleted) Kind() Kind { return KindSecretStoredOrDeleted }
func (s *SecretStoredOrDeleted) reset()   { *s = SecretStoredOrDeleted{} }

func (s *SecretStoredOrDeleted) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeString(pb, 1, &s.Name)
	encodeOrDecodeBytes(pb, 2, &s.Sealed)
	encodeOrDecodeFixed64(pb, 3, &s.At)
	encodeOrDecodeString(pb, 4, &s.By)
}
