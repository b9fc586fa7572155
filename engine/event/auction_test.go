package event

import (
	"reflect"
	"testing"
)

// What is reused is empty, and keeps the room that it had.
func TestAnAuctionIsEmptiedForTheNext(t *testing.T) {
	held := fill(new(PingAuctionCompleted)).(*PingAuctionCompleted)
	held.ResetKeepingCapacity()
	if !same(held, new(PingAuctionCompleted)) {
		t.Errorf("left over: %+v", held)
	}
	if cap(held.Trail) == 0 || cap(held.Bids) == 0 || cap(held.Fields) == 0 {
		t.Error("the room is gone")
	}
	lead := fill(new(LeadDecided)).(*LeadDecided)
	lead.ResetKeepingCapacity()
	if !same(lead, new(LeadDecided)) {
		t.Errorf("left over: %+v", lead)
	}
	if cap(lead.Auction.Bids) == 0 {
		t.Error("the room for bids is gone")
	}
}

// A sale that is copied for its settlement says the same of the auction.
func TestASaleKeepsItsAuction(t *testing.T) {
	var of, back Sale
	var f filler
	f.fill(reflect.ValueOf(&of).Elem())
	of.Ping = [16]byte{1, 15: 9}
	back.CopyFrom(&of)
	if !reflect.DeepEqual(back, of) {
		t.Errorf("%+v, copied %+v", of, back)
	}
	if of.ResetKeepingCapacity(); of.Ping != [16]byte{} {
		t.Error("a sale to come uses an auction up that it was not told of")
	}
}

func TestWhichSettlementsEndAnIntent(t *testing.T) {
	for s, ends := range map[PostSettlement]bool{
		SettledDelivered: true, SettledRefused: true, SettledConfirmed: true, SettledReleased: true,
		SettledPending: false, SettledUnknown: false, SettledResent: false, 0: false, 99: false,
	} {
		if s.EndsPost() != ends {
			t.Errorf("%s ends an intent: %t", s, s.EndsPost())
		}
	}
}
