package event

import "pingpost/engine/market"

// InvitationCreatedOrRevoked creates or revokes an invitation to open an operator's account. It holds the
// hash of the invitation's token, never the token. UserAccountChanged.Invitation uses it up.
type InvitationCreatedOrRevoked struct {
	Hash    [32]byte
	Role    market.OperatorRole
	Name    string // of the account; empty: the invited person chooses it
	Expires int64  // Unix nanoseconds
	Revoked bool
	At      int64
	By      string // requesting operator; empty: no operator
}

func (*InvitationCreatedOrRevoked) Kind() Kind { return KindInvitationChanged }
func (i *InvitationCreatedOrRevoked) reset()   { *i = InvitationCreatedOrRevoked{} }

func (i *InvitationCreatedOrRevoked) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeFixedBytes(pb, 1, i.Hash[:], true)
	encodeOrDecodeEnum(pb, 2, &i.Role)
	encodeOrDecodeString(pb, 3, &i.Name)
	encodeOrDecodeFixed64(pb, 4, &i.Expires)
	encodeOrDecodeBool(pb, 5, &i.Revoked)
	encodeOrDecodeFixed64(pb, 6, &i.At)
	encodeOrDecodeString(pb, 7, &i.By)
}

// SecondFactorChangeOrUse says what happened to a user's second factor.
type SecondFactorChangeOrUse uint8

const (
	SecondFactorEnrolled  SecondFactorChangeOrUse = 1 // has a secret; the user has not confirmed it yet
	SecondFactorConfirmed SecondFactorChangeOrUse = 2 // sign-in requires it from now on
	SecondFactorUsed      SecondFactorChangeOrUse = 3 // one of its codes is used up
	SecondFactorRemoved   SecondFactorChangeOrUse = 4

	secondFactorChangeEnd SecondFactorChangeOrUse = 5
)

// String returns the change's name in descriptions.
func (c SecondFactorChangeOrUse) String() string {
	switch c {
	case SecondFactorEnrolled:
		return "enrolled"
	case SecondFactorConfirmed:
		return "confirmed"
	case SecondFactorUsed:
		return "used"
	case SecondFactorRemoved:
		return "removed"
	}
	return "invalid"
}

// RecoveryCodeHash is the keyed hash of a user's one-time recovery code.
type RecoveryCodeHash [16]byte

// UserSecondFactorChangedOrUsed adds, confirms, uses or removes a user's second factor (TOTP).
type UserSecondFactorChangedOrUsed struct {
	User     string
	Change   SecondFactorChangeOrUse
	Sealed   []byte             // enrolled: the secret, encrypted with the exchange's key
	Step     uint64             // confirmed, used: the time step of the accepted code; zero: a recovery code
	Recovery []RecoveryCodeHash // confirmed: the recovery codes; used: the used one
	At       int64
	By       string // requesting operator; empty: no operator
}

func (*UserSecondFactorChangedOrUsed) Kind() Kind { return KindUserSecondFactorChangedOrUsed }

func (u *UserSecondFactorChangedOrUsed) reset() {
	*u = UserSecondFactorChangedOrUsed{Recovery: u.Recovery[:0]}
}

func (u *UserSecondFactorChangedOrUsed) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeString(pb, 1, &u.User)
	encodeOrDecodeEnum(pb, 2, &u.Change)
	encodeOrDecodeBytes(pb, 3, &u.Sealed)
	encodeOrDecodeUint64(pb, 4, &u.Step)
	encodeOrDecodeID16List(pb, 5, &u.Recovery)
	encodeOrDecodeFixed64(pb, 6, &u.At)
	encodeOrDecodeString(pb, 7, &u.By)
}
