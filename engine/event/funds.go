package event

import (
	"pingpost/engine/market"
)

// BuyerFundsMoved is an operator's entry in a buyer's account: the one opening balance, or a
// later top-up. Money that sales take and give back is in the events of the sales.
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

func (f *BuyerFundsMoved) encodeOrDecode(pb *protobufCodec) {
	uint32Field(pb, 1, &f.Buyer)
	zigzagField(pb, 2, &f.Amount)
	boolField(pb, 3, &f.Opening)
	stringField(pb, 4, &f.Note)
	fixed64Field(pb, 5, &f.At)
	stringField(pb, 6, &f.By)
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

func (d *PauseSet) encodeOrDecode(pb *protobufCodec) {
	enumField(pb, 1, &d.Target)
	uint32Field(pb, 2, &d.Ref)
	boolField(pb, 3, &d.Paused)
	fixed64Field(pb, 4, &d.At)
	stringField(pb, 5, &d.By)
}

// SuppressionListLoaded replaces the content of a suppression list. The content is an immutable
// file beside the log; the event names it by its hash.
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

func (l *SuppressionListLoaded) encodeOrDecode(pb *protobufCodec) {
	uint32Field(pb, 1, &l.List)
	stringField(pb, 2, &l.File)
	uint64Field(pb, 3, &l.Entries)
	stringField(pb, 4, &l.Source)
	fixed64Field(pb, 5, &l.At)
	stringField(pb, 6, &l.By)
	boolField(pb, 7, &l.Uploaded)
}
