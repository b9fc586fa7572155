package event

import (
	"pingpost/engine/market"
)

// BuyerFundsAdjusted is an entry in a buyer's account that no sale causes: the one opening balance, or
// an operator's later top-up. A negative Amount is a withdrawal. Money that sales take and give back is
// in the events of the sales.
type BuyerFundsAdjusted struct {
	Buyer   market.PermanentNumber
	Amount  market.Money
	Opening bool
	Note    string
	At      int64
	By      string // requesting operator; empty: no operator, or an earlier program wrote the event
}

func (*BuyerFundsAdjusted) Kind() Kind { return KindBuyerFundsAdjusted }
func (f *BuyerFundsAdjusted) reset()   { *f = BuyerFundsAdjusted{} }

func (f *BuyerFundsAdjusted) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeUint32(pb, 1, &f.Buyer)
	encodeOrDecodeZigzag(pb, 2, &f.Amount)
	encodeOrDecodeBool(pb, 3, &f.Opening)
	encodeOrDecodeString(pb, 4, &f.Note)
	encodeOrDecodeFixed64(pb, 5, &f.At)
	encodeOrDecodeString(pb, 6, &f.By)
}

// CampaignOrBuyerPausedOrResumed pauses or resumes a campaign or a buyer.
type CampaignOrBuyerPausedOrResumed struct {
	Target ConfigObjectKind // campaign or buyer
	Ref    market.PermanentNumber
	Paused bool
	At     int64
	By     string // requesting operator; empty: no operator, or an earlier program wrote the event
}

func (*CampaignOrBuyerPausedOrResumed) Kind() Kind { return KindPausedOrResumed }
func (d *CampaignOrBuyerPausedOrResumed) reset()   { *d = CampaignOrBuyerPausedOrResumed{} }

func (d *CampaignOrBuyerPausedOrResumed) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeEnum(pb, 1, &d.Target)
	encodeOrDecodeUint32(pb, 2, &d.Ref)
	encodeOrDecodeBool(pb, 3, &d.Paused)
	encodeOrDecodeFixed64(pb, 4, &d.At)
	encodeOrDecodeString(pb, 5, &d.By)
}

// SuppressionListContentLoaded replaces the content of a suppression list. The content is an immutable
// file beside the log; the event names it by its hash.
type SuppressionListContentLoaded struct {
	List    market.PermanentNumber
	File    string // hex SHA-256 of the file
	Entries uint64
	Source  string // hex SHA-256 of the lines it was made from
	At      int64

	By       string // operator of the upload, or of the configuration with the first content; empty: no operator
	Uploaded bool   // false: the first content, from the list's configured file
}

func (*SuppressionListContentLoaded) Kind() Kind { return KindSuppressionListContentLoaded }
func (l *SuppressionListContentLoaded) reset()   { *l = SuppressionListContentLoaded{} }

func (l *SuppressionListContentLoaded) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeUint32(pb, 1, &l.List)
	encodeOrDecodeString(pb, 2, &l.File)
	encodeOrDecodeUint64(pb, 3, &l.Entries)
	encodeOrDecodeString(pb, 4, &l.Source)
	encodeOrDecodeFixed64(pb, 5, &l.At)
	encodeOrDecodeString(pb, 6, &l.By)
	encodeOrDecodeBool(pb, 7, &l.Uploaded)
}
