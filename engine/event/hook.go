package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// HookTried is what an attempt to tell a supplier of its lead came to. What is to
// be told is in the fact that caused it (Hook); a lead causes each type once, so
// lead and type name it.
type HookTried struct {
	Lead     market.LeadID
	Type     market.HookType
	Supplier market.Ref
	Attempt  uint32 // from 1
	Outcome  HookOutcome
	At       int64  // when it ended, Unix nanoseconds
	Due      int64  // of HookFailed: when the next attempt is due
	Status   uint32 // HTTP status, zero where none came
	Fault    market.Fault
	By       string // the operator who asked for it; empty: nobody did, or an earlier program wrote it
}

// HookOutcome is what became of an attempt. Numbers are in the log.
type HookOutcome uint8

const (
	HookDelivered HookOutcome = 1 // the supplier acknowledged it
	HookFailed    HookOutcome = 2 // it is tried again
	HookDead      HookOutcome = 3 // it is not: a dead letter, until an operator has it sent again
	HookResent    HookOutcome = 4 // an operator: from the beginning, due at once
	HookDropped   HookOutcome = 5 // an operator: let go
	hookOutcomeOf             = 6
)

func (o HookOutcome) String() string {
	names := [hookOutcomeOf]string{"", "delivered", "failed", "dead", "resent", "dropped"}
	if o >= hookOutcomeOf {
		return "invalid"
	}
	return names[o]
}

func (*HookTried) Kind() Kind { return KindHookTried }
func (h *HookTried) reset()   { *h = HookTried{} }

func (h *HookTried) marshal(mm message) {
	putID(mm, 1, h.Lead)
	putUint(mm, 2, uint64(h.Type))
	putUint(mm, 3, uint64(h.Supplier))
	putUint(mm, 4, uint64(h.Attempt))
	putUint(mm, 5, uint64(h.Outcome))
	putFixed(mm, 6, uint64(h.At))
	putFixed(mm, 7, uint64(h.Due))
	putUint(mm, 8, uint64(h.Status))
	putUint(mm, 9, uint64(h.Fault))
	putString(mm, 10, h.By)
}

func (h *HookTried) field(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getID(fc, (*[16]byte)(&h.Lead))
	case 2:
		return getByte(fc, &h.Type)
	case 3:
		return getRef(fc, &h.Supplier)
	case 4:
		return getUint32(fc, &h.Attempt)
	case 5:
		return getByte(fc, &h.Outcome)
	case 6:
		return getFixed(fc, &h.At)
	case 7:
		return getFixed(fc, &h.Due)
	case 8:
		return getUint32(fc, &h.Status)
	case 9:
		return getByte(fc, &h.Fault)
	case 10:
		return getString(fc, &h.By)
	}
	return true
}

// HooksSwitched stops the webhooks of a supplier whose endpoint has failed for
// days, or lets them go on. While they are off, what is caused is a dead letter
// from its beginning.
type HooksSwitched struct {
	Supplier market.Ref
	Off      bool
	At       int64
	By       string // the operator who asked for it; empty: nobody did, or an earlier program wrote it
}

func (*HooksSwitched) Kind() Kind { return KindHooksSwitched }
func (h *HooksSwitched) reset()   { *h = HooksSwitched{} }

func (h *HooksSwitched) marshal(mm message) {
	putUint(mm, 1, uint64(h.Supplier))
	putBool(mm, 2, h.Off)
	putFixed(mm, 3, uint64(h.At))
	putString(mm, 4, h.By)
}

func (h *HooksSwitched) field(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getRef(fc, &h.Supplier)
	case 2:
		return getBool(fc, &h.Off)
	case 3:
		return getFixed(fc, &h.At)
	case 4:
		return getString(fc, &h.By)
	}
	return true
}
