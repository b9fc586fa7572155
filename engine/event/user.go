package event

import (
	"pingpost/engine/market"
)

// UserSet creates, changes or removes an operator's account. In each case all API tokens of the
// user are revoked.
type UserSet struct {
	Name     string
	Role     market.Role
	Password string // argon2id hash in the PHC form; never the password
	Removed  bool
	At       int64
	By       string // requesting operator; empty: no operator
}

func (*UserSet) Kind() Kind { return KindUserSet }
func (u *UserSet) reset()   { *u = UserSet{} }

func (u *UserSet) encodeOrDecode(pb *protobufCodec) {
	stringField(pb, 1, &u.Name)
	enumField(pb, 2, &u.Role)
	stringField(pb, 3, &u.Password)
	boolField(pb, 4, &u.Removed)
	fixed64Field(pb, 5, &u.At)
	stringField(pb, 6, &u.By)
}

// APITokenSet adds or revokes a user's personal API token. It holds the token's hash, never the
// token.
type APITokenSet struct {
	User    string
	Name    string // chosen by the user
	Role    market.Role
	Hash    [32]byte
	Hint    string // the first characters, for operators
	Expires int64  // Unix nanoseconds; zero: never
	Revoked bool
	At      int64
	By      string // requesting operator; empty: no operator
}

func (*APITokenSet) Kind() Kind { return KindAPITokenSet }
func (a *APITokenSet) reset()   { *a = APITokenSet{} }

func (a *APITokenSet) encodeOrDecode(pb *protobufCodec) {
	stringField(pb, 1, &a.User)
	stringField(pb, 2, &a.Name)
	enumField(pb, 3, &a.Role)
	fixedBytesField(pb, 4, a.Hash[:], true)
	stringField(pb, 5, &a.Hint)
	fixed64Field(pb, 6, &a.Expires)
	boolField(pb, 7, &a.Revoked)
	fixed64Field(pb, 8, &a.At)
	stringField(pb, 9, &a.By)
}
