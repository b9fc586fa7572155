package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// BuyerFundsMoved is an operator's entry in a buyer's account: the one opening balance, and
// every later top-up. The events of sales record the amounts that sales take and give
// back.
type BuyerFundsMoved struct {
	Buyer   market.Ref
	Amount  market.Money
	Opening bool
	Note    string
	At      int64
	By      string // requesting operator; empty: no operator, or an earlier program wrote the event
}

func (*BuyerFundsMoved) Kind() Kind { return KindFundsMoved }
func (f *BuyerFundsMoved) reset()   { *f = BuyerFundsMoved{} }

func (f *BuyerFundsMoved) marshal(mm openMessage) {
	putUint(mm, 1, uint64(f.Buyer))
	putSint(mm, 2, int64(f.Amount))
	putBool(mm, 3, f.Opening)
	putString(mm, 4, f.Note)
	putFixed(mm, 5, uint64(f.At))
	putString(mm, 6, f.By)
}

func (f *BuyerFundsMoved) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getRef(fc, &f.Buyer)
	case 2:
		return getMoney(fc, &f.Amount)
	case 3:
		return getBool(fc, &f.Opening)
	case 4:
		return getString(fc, &f.Note)
	case 5:
		return getFixed(fc, &f.At)
	case 6:
		return getString(fc, &f.By)
	}
	return true
}

// PauseSet pauses or resumes a campaign or a buyer.
type PauseSet struct {
	Target ObjectKind // campaign or buyer
	Ref    market.Ref
	Paused bool
	At     int64
	By     string // requesting operator; empty: no operator, or an earlier program wrote the event
}

func (*PauseSet) Kind() Kind { return KindPauseSet }
func (d *PauseSet) reset()   { *d = PauseSet{} }

func (d *PauseSet) marshal(mm openMessage) {
	putUint(mm, 1, uint64(d.Target))
	putUint(mm, 2, uint64(d.Ref))
	putBool(mm, 3, d.Paused)
	putFixed(mm, 4, uint64(d.At))
	putString(mm, 5, d.By)
}

func (d *PauseSet) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getByte(fc, &d.Target)
	case 2:
		return getRef(fc, &d.Ref)
	case 3:
		return getBool(fc, &d.Paused)
	case 4:
		return getFixed(fc, &d.At)
	case 5:
		return getString(fc, &d.By)
	}
	return true
}

// SuppressionListLoaded puts new content into a suppression list: an immutable file beside the log,
// identified by its hash.
type SuppressionListLoaded struct {
	List    market.Ref
	File    string // hex SHA-256 of the file
	Entries uint64
	Source  string // hex SHA-256 of the lines it was made from
	At      int64

	By       string // the operator who uploaded it
	Uploaded bool   // false: the first content, from the list's configured file
}

func (*SuppressionListLoaded) Kind() Kind { return KindListLoaded }
func (l *SuppressionListLoaded) reset()   { *l = SuppressionListLoaded{} }

func (l *SuppressionListLoaded) marshal(mm openMessage) {
	putUint(mm, 1, uint64(l.List))
	putString(mm, 2, l.File)
	putUint(mm, 3, l.Entries)
	putString(mm, 4, l.Source)
	putFixed(mm, 5, uint64(l.At))
	putString(mm, 6, l.By)
	putBool(mm, 7, l.Uploaded)
}

func (l *SuppressionListLoaded) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getRef(fc, &l.List)
	case 2:
		return getString(fc, &l.File)
	case 3:
		return getUint(fc, &l.Entries)
	case 4:
		return getString(fc, &l.Source)
	case 5:
		return getFixed(fc, &l.At)
	case 6:
		return getString(fc, &l.By)
	case 7:
		return getBool(fc, &l.Uploaded)
	}
	return true
}
