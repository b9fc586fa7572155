package event

import (
	"reflect"
	"testing"
)

func TestResetClearsEventAndKeepsCapacity(t *testing.T) {
	auction := fill(new(PingAuctionCompleted)).(*PingAuctionCompleted)
	auction.ResetKeepingCapacity()
	if !equalEvents(auction, new(PingAuctionCompleted)) {
		t.Errorf("after the reset: %+v", auction)
	}
	if cap(auction.Trail) == 0 || cap(auction.Bids) == 0 || cap(auction.Fields) == 0 {
		t.Error("the reset dropped the capacity of the auction's lists")
	}
	lead := fill(new(LeadDecided)).(*LeadDecided)
	lead.ResetKeepingCapacity()
	if !equalEvents(lead, new(LeadDecided)) {
		t.Errorf("after the reset: %+v", lead)
	}
	if cap(lead.Auction.Bids) == 0 {
		t.Error("the reset dropped the capacity of the lead's bids")
	}
}

// The settlement's copy of a sale has the same auction.
func TestSaleCopyKeepsAuction(t *testing.T) {
	var sale, copied Sale
	var f filler
	f.fill(reflect.ValueOf(&sale).Elem())
	sale.Ping = [16]byte{1, 15: 9}
	copied.CopyFrom(&sale)
	if !reflect.DeepEqual(copied, sale) {
		t.Errorf("copied %+v, want %+v", copied, sale)
	}
	if sale.ResetKeepingCapacity(); sale.Ping != [16]byte{} {
		t.Error("the reset kept the sale's auction")
	}
}

func TestSettlementsThatEndPost(t *testing.T) {
	for s, ends := range map[PostSettlement]bool{
		SettledDelivered: true, SettledRefused: true, SettledConfirmed: true, SettledReleased: true,
		SettledPending: false, SettledUnknown: false, SettledResent: false, 0: false, 99: false,
	} {
		if s.EndsPost() != ends {
			t.Errorf("%s: EndsPost is %t", s, s.EndsPost())
		}
	}
}
