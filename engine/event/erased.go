package event

import (
	"github.com/VictoriaMetrics/easyproto"

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

func (l *LeadsErased) marshal(mm openMessage) {
	if len(l.Slots) > 0 {
		mm.AppendUint64s(1, l.Slots)
	}
	for i := range l.Leads {
		mm.AppendBytes(2, l.Leads[i][:])
	}
	putFixed(mm, 3, uint64(l.At))
	putString(mm, 4, l.By)
}

func (l *LeadsErased) decodeField(fc *easyproto.FieldContext) (ok bool) {
	switch fc.FieldNum {
	case 1:
		l.Slots, ok = fc.UnpackUint64s(l.Slots)
		return ok
	case 2:
		var lead market.LeadID
		l.Leads = append(l.Leads, lead)
		return getID(fc, (*[16]byte)(&l.Leads[len(l.Leads)-1]))
	case 3:
		return getFixed(fc, &l.At)
	case 4:
		return getString(fc, &l.By)
	}
	return true
}
