package event

import (
	"pingpost/engine/market"
)

// LeadsErased records that the personal data of these leads is erased. The process erases
// the keys once the event is durable. If a crash comes between, the next start erases
// them, so the event names everything that this needs.
type LeadsErased struct {
	Slots []uint64        // of the leads' keys
	Leads []market.LeadID // with these slots, in the same order
	At    int64           // Unix nanoseconds
	By    string          // requesting operator; empty: no operator, or an earlier program wrote the event
}

func (*LeadsErased) Kind() Kind { return KindLeadsErased }
func (l *LeadsErased) reset()   { *l = LeadsErased{Slots: l.Slots[:0], Leads: l.Leads[:0]} }

func (l *LeadsErased) encodeOrDecode(pb *protobufCodec) {
	packedUint64Field(pb, 1, &l.Slots)
	idListField(pb, 2, &l.Leads)
	fixed64Field(pb, 3, &l.At)
	stringField(pb, 4, &l.By)
}
