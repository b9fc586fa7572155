package event

import (
	"pingpost/engine/market"
)

// PersonalDataOfLeadsErased records that an operator has erased the personal data of leads. The leads
// themselves stay. Once the event is durable, the process erases the keys that encrypt this data. If a
// crash prevents that, the next start erases the keys by Slots.
type PersonalDataOfLeadsErased struct {
	Slots []uint64        // of the leads' keys
	Leads []market.LeadID // with these slots, in the same order
	At    int64           // Unix nanoseconds
	By    string          // requesting operator; empty: no operator, or an earlier program wrote the event
}

func (*PersonalDataOfLeadsErased) Kind() Kind { return KindPersonalDataOfLeadsErased }
func (l *PersonalDataOfLeadsErased) reset() {
	*l = PersonalDataOfLeadsErased{Slots: l.Slots[:0], Leads: l.Leads[:0]}
}

func (l *PersonalDataOfLeadsErased) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodePackedUint64s(pb, 1, &l.Slots)
	encodeOrDecodeID16List(pb, 2, &l.Leads)
	encodeOrDecodeFixed64(pb, 3, &l.At)
	encodeOrDecodeString(pb, 4, &l.By)
}
