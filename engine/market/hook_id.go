package market

import "crypto/sha256"

// EventID names an event that a supplier is told: receivers drop by it what they
// have heard already.
//
// It is derived and stored nowhere: a lead causes each type once, so lead and type
// are the event, and the time of the fact that caused it makes identifiers sort as
// the events happened. So it is the same at every attempt, over restarts, and after
// a replay on another machine.
type EventID [16]byte

const eventPrefix = "evt_"

// EventOf is the identifier of what lead caused in a batch of this time, in Unix
// nanoseconds.
func EventOf(lead LeadID, what HookType, created int64) EventID {
	sum := sha256.Sum256(append(lead[:], byte(what)))
	return EventID(MakeID(created/1_000_000, [10]byte(sum[:10])))
}

// AppendTo appends the text form, such as evt_01jd….
func (id EventID) AppendTo(dst []byte) []byte { return appendID(append(dst, eventPrefix...), id) }
func (id EventID) String() string             { return string(id.AppendTo(nil)) }

// ParseEventID reads the text form; anything else is not ok.
func ParseEventID(s string) (id EventID, ok bool) {
	raw, ok := parseID(eventPrefix, s)
	return EventID(raw), ok
}
