package event

import (
	"pingpost/engine/market"
)

// UserAccountChanged creates, changes or removes an operator's account. In each case all API tokens
// of the user are revoked.
type UserAccountChanged struct {
	Name     string
	Role     market.OperatorRole
	Password string // argon2id hash in the PHC form; never the password
	Removed  bool
	At       int64
	By       string // requesting operator; empty: no operator

	Invitation [32]byte // hash of the token of the invitation that is used up; zero: none
}

func (*UserAccountChanged) Kind() Kind { return KindUserAccountChanged }
func (u *UserAccountChanged) reset()   { *u = UserAccountChanged{} }

func (u *UserAccountChanged) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeString(pb, 1, &u.Name)
	encodeOrDecodeEnum(pb, 2, &u.Role)
	encodeOrDecodeString(pb, 3, &u.Password)
	encodeOrDecodeBool(pb, 4, &u.Removed)
	encodeOrDecodeFixed64(pb, 5, &u.At)
	encodeOrDecodeString(pb, 6, &u.By)
	encodeOrDecodeFixedBytes(pb, 7, u.Invitation[:], u.Invitation != [32]byte{})
}

// APITokenAddedOrRevoked adds or revokes a user's personal API token. It holds the token's hash,
// never the token.
type APITokenAddedOrRevoked struct {
	User    string
	Name    string // chosen by the user
	Role    market.OperatorRole
	Hash    [32]byte
	Hint    string // the first characters, for operators
	Expires int64  // Unix nanoseconds; zero: never
	Revoked bool
	At      int64
	By      string // requesting operator; empty: no operator
}

func (*APITokenAddedOrRevoked) Kind() Kind { return KindAPITokenAddedOrRevoked }
func (a *APITokenAddedOrRevoked) reset()   { *a = APITokenAddedOrRevoked{} }

func (a *APITokenAddedOrRevoked) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeString(pb, 1, &a.User)
	encodeOrDecodeString(pb, 2, &a.Name)
	encodeOrDecodeEnum(pb, 3, &a.Role)
	encodeOrDecodeFixedBytes(pb, 4, a.Hash[:], true)
	encodeOrDecodeString(pb, 5, &a.Hint)
	encodeOrDecodeFixed64(pb, 6, &a.Expires)
	encodeOrDecodeBool(pb, 7, &a.Revoked)
	encodeOrDecodeFixed64(pb, 8, &a.At)
	encodeOrDecodeString(pb, 9, &a.By)
}
