package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// UserSet creates, changes or removes an operator's account. In every case the user's
// tokens end.
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

func (u *UserSet) marshal(mm openMessage) {
	putString(mm, 1, u.Name)
	putUint(mm, 2, uint64(u.Role))
	putString(mm, 3, u.Password)
	putBool(mm, 4, u.Removed)
	putFixed(mm, 5, uint64(u.At))
	putString(mm, 6, u.By)
}

func (u *UserSet) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getString(fc, &u.Name)
	case 2:
		return getByte(fc, &u.Role)
	case 3:
		return getString(fc, &u.Password)
	case 4:
		return getBool(fc, &u.Removed)
	case 5:
		return getFixed(fc, &u.At)
	case 6:
		return getString(fc, &u.By)
	}
	return true
}

// APITokenSet adds or revokes a user's personal API token. It holds only the hash.
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

func (a *APITokenSet) marshal(mm openMessage) {
	putString(mm, 1, a.User)
	putString(mm, 2, a.Name)
	putUint(mm, 3, uint64(a.Role))
	mm.AppendBytes(4, a.Hash[:])
	putString(mm, 5, a.Hint)
	putFixed(mm, 6, uint64(a.Expires))
	putBool(mm, 7, a.Revoked)
	putFixed(mm, 8, uint64(a.At))
	putString(mm, 9, a.By)
}

func (a *APITokenSet) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getString(fc, &a.User)
	case 2:
		return getString(fc, &a.Name)
	case 3:
		return getByte(fc, &a.Role)
	case 4:
		hash, ok := fc.Bytes()
		return ok && copy(a.Hash[:], hash) == len(a.Hash) && len(hash) == len(a.Hash)
	case 5:
		return getString(fc, &a.Hint)
	case 6:
		return getFixed(fc, &a.Expires)
	case 7:
		return getBool(fc, &a.Revoked)
	case 8:
		return getFixed(fc, &a.At)
	case 9:
		return getString(fc, &a.By)
	}
	return true
}
