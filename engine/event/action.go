package event

import (
	"pingpost/engine/market"
)

// OperatorActionRecorded is a record of the audit log: an operator's action begins, ends, or both.
// It changes no state. An action that changes the exchange has two events, and the first is durable
// before the action begins. So the log names the operator of each change, also after a crash
// between the two.
//
// The texts Request, Before, After and Result are JSON objects without secrets and without contact
// data, or empty.
type OperatorActionRecorded struct {
	Action     market.RequestID // of the request; the same in both events of an action
	Phase      OperatorActionPhase
	At         int64  // Unix nanoseconds
	By         string // the operator; empty: no operator, or not known
	Credential OperatorCredentialKind
	Token      string // id of the API token; empty: another credential
	Role       market.OperatorRole
	Address    string // of the client; empty: no client
	Operation  string // method and route, such as "POST /admin/v1/buyers/{id}/funds"
	TargetKind string // such as "buyer"; empty: no target
	Target     string // id of the target
	Request    string // values of the request
	Before     string // the target before the action
	After      string // the target after the action
	Result     string // values of the answer
	Status     uint32 // HTTP status of the answer; zero: the action has not ended
	Answer     market.RequestID
	Omitted    uint32 // earlier failures without a record, because there were too many
}

func (*OperatorActionRecorded) Kind() Kind { return KindOperatorActionRecorded }
func (a *OperatorActionRecorded) reset()   { *a = OperatorActionRecorded{} }

func (a *OperatorActionRecorded) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeID16(pb, 1, &a.Action)
	encodeOrDecodeEnum(pb, 2, &a.Phase)
	encodeOrDecodeFixed64(pb, 3, &a.At)
	encodeOrDecodeString(pb, 4, &a.By)
	encodeOrDecodeEnum(pb, 5, &a.Credential)
	encodeOrDecodeString(pb, 6, &a.Token)
	encodeOrDecodeEnum(pb, 7, &a.Role)
	encodeOrDecodeString(pb, 8, &a.Address)
	encodeOrDecodeString(pb, 9, &a.Operation)
	encodeOrDecodeString(pb, 10, &a.TargetKind)
	encodeOrDecodeString(pb, 11, &a.Target)
	encodeOrDecodeString(pb, 12, &a.Request)
	encodeOrDecodeString(pb, 13, &a.Before)
	encodeOrDecodeString(pb, 14, &a.After)
	encodeOrDecodeString(pb, 15, &a.Result)
	encodeOrDecodeUint32(pb, 16, &a.Status)
	encodeOrDecodeID16(pb, 17, &a.Answer)
	encodeOrDecodeUint32(pb, 18, &a.Omitted)
}

// OperatorActionPhase says which part of an action an OperatorActionRecorded records.
type OperatorActionPhase uint8

// The values of OperatorActionPhase.
const (
	ActionBegun OperatorActionPhase = 1
	ActionEnded OperatorActionPhase = 2
	ActionWhole OperatorActionPhase = 3 // begun and ended
)

var actionPhases = [...]string{"none", "begun", "ended", "whole"}

func (p OperatorActionPhase) String() string { return market.EnumName(actionPhases[:], int(p), "none") }

// OperatorCredentialKind is the kind of credential with which an operator acted.
type OperatorCredentialKind uint8

// The values of OperatorCredentialKind.
const (
	ByNoCredential    OperatorCredentialKind = 0 // the exchange itself, or a failed sign-in
	BySession         OperatorCredentialKind = 1
	ByAPIToken        OperatorCredentialKind = 2
	ByAccountPassword OperatorCredentialKind = 3
	BySharedPassword  OperatorCredentialKind = 4 // admin.password
	BySharedSession   OperatorCredentialKind = 5 // a session that began with admin.password
	ByOIDC            OperatorCredentialKind = 6 // a sign-in at the identity provider, or its session
)

var operatorCredentials = [...]string{"none", "session", "api_token", "account_password", "shared_password", "shared_password_session", "oidc"}

func (c OperatorCredentialKind) String() string {
	return market.EnumName(operatorCredentials[:], int(c), "none")
}

// ParseOperatorCredentialKind returns the credential with this name, or false.
func ParseOperatorCredentialKind(name string) (c OperatorCredentialKind, ok bool) {
	for i, text := range operatorCredentials {
		if text == name {
			return OperatorCredentialKind(i), true
		}
	}
	return 0, false
}

// operatorActionMembers returns the members that describe the event.
func operatorActionMembers(e *OperatorActionRecorded) jsonMembers {
	answer := ""
	if !e.Answer.IsZero() {
		answer = e.Answer.String()
	}
	return jsonMembers{
		{"action", e.Action},
		{"phase", e.Phase},
		{"credential", e.Credential},
		{"token", e.Token},
		{"role", e.Role},
		{"address", e.Address},
		{"operation", e.Operation},
		{"target_kind", e.TargetKind},
		{"target", e.Target},
		{"request", e.Request},
		{"before", e.Before},
		{"after", e.After},
		{"result", e.Result},
		{"status", e.Status},
		{"answer", answer},
		{"omitted", e.Omitted},
	}
}
