package engine

import (
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/pastauction"
	"pingpost/engine/state"
)

// A renamed field is read by its buyer-side name, which the log has now, and by the name
// in the request, which earlier versions logged.
func TestPingFieldsFromLog(t *testing.T) {
	mapping, err := market.NewFieldMapping(market.FieldMappingSpec{Fields: []market.FieldSpec{
		{Name: "utm_source", NameForBuyers: "source", Type: market.TypeString}, {Name: "homeowner", NameForBuyers: "owns_home", Type: market.TypeString},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, slot := range map[string]market.LeadFieldIndex{"source": market.SlotSource, "utm_source": market.SlotSource, "homeowner": market.FirstCustomSlot} {
		in := new(ingestOrPostWorkspace)
		in.accepted.auction = &pastauction.RecordedAuction{Fields: []event.LeadField{{Name: name, Kind: market.KindString, Text: []byte("x")}}}
		in.fillPingLeadFromAuction(mapping)
		if got := string(in.accepted.pingLead.Values[slot].Text); got != "x" {
			t.Errorf("field logged as %s has value %q, want %q", name, got, "x")
		}
	}
	for slot, want := range map[market.LeadFieldIndex]string{market.SlotSource: "source", market.FirstCustomSlot: "homeowner"} {
		if got := mapping.FieldNameInLog(slot); got != want {
			t.Errorf("log name is %s, want %s", got, want)
		}
	}
}

// The event and its encoding may be overwritten after the auction was cached.
func TestCachedAuctionIsCopy(t *testing.T) {
	record := &event.PingAuctionCompleted{
		Auction: market.AuctionID{7}, Name: [16]byte{7, 1},
		Bids:   []event.Bid{{Buyer: 1, Outcome: market.OutcomeWon, Amount: 2, Token: "token", ValidUntil: 100}},
		Fields: []event.LeadField{{Name: "state", Kind: market.KindString, Text: []byte("CA")}},
	}
	data := event.AppendRecord(nil, record)
	var e Engine
	e.recent.Add(record, data, 1)
	clear(data)
	clear(record.Fields[0].Text)
	a, err := e.readAuctionFromCacheOrLog(&state.AuctionRow{Name: record.Name, Seq: 3}, 0)
	if err != nil {
		t.Fatal(err)
	}
	bid := a.ValidBidOfBuyer(1)
	if a.ID != record.Auction || string(a.Fields[0].Text) != "CA" || bid == nil || bid.Token != "token" || bid.Amount != 2 {
		t.Errorf("cached auction changed: %+v, bid %+v", a, bid)
	}
}
