package event

import (
	"testing"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// A replay may leave out what applying never looks at, and nothing else.
func TestBriefLeavesOutWhatIsNeverApplied(t *testing.T) {
	brief, whole := Decoder{ForReplay: true}, Decoder{}
	for _, e := range everyKind() {
		data := AppendRecord(nil, fill(e))
		want, err := whole.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		switch e := want.(type) {
		case *LeadDecided:
			if len(e.Fields) == 0 || len(e.Trail) == 0 || len(e.Auction.Bids) == 0 || e.SellerAuction == "" {
				t.Fatal("the lead has nothing to leave out")
			}
			e.Fields, e.Trail, e.Auction, e.SellerAuction = nil, nil, LeadDecisionAuction{}, ""
		case *PingAuctionCompleted:
			if len(e.Fields) == 0 || len(e.Trail) == 0 || len(e.Bids) == 0 || e.SellerAuction == "" || !e.Test || e.FiltersPassed == 0 {
				t.Fatal("the auction has nothing to leave out")
			}
			e.Fields, e.Trail, e.Bids, e.SellerAuction, e.Test, e.FiltersPassed = nil, nil, nil, "", false, 0
		}
		got, err := brief.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if !same(got, want) {
			t.Errorf("%s: %+v, want %+v", e.Kind(), got, want)
		}
	}
}

// typical is a lead as most are: sold, with two caps, a turn and two values to
// remember, and a trail over a few seats.
func typical() *LeadDecided {
	contact := LeadPersonalData{Fields: []LeadField{
		{"first_name", market.KindString, []byte("Ann")},
		{"last_name", market.KindString, []byte("Example")},
		{"phone", market.KindString, []byte("+14155550123")},
		{"email", market.KindString, []byte("ann@example.com")},
	}}
	lead := &LeadDecided{
		Lead: [16]byte{1, 2, 3}, Request: [16]byte{4, 5, 6}, Campaign: 3, Supplier: 2, Catalog: 9, Decided: 1_800_000_000e9,
		Idempotency: RequestIdempotencyKey{Key: [16]byte{7}, Fingerprint: 8, ExpiresAt: 1_802_592_000e9}, Keep: 1_803_888_000e9,
		Trail: []FilterSetsWithOutcome{{market.OutcomeWon, bitset.Set{4}}, {market.OutcomeWrongState, bitset.Set{3}}},
		Sale: Sale{
			Buyer: 5, FilterSet: 2, Price: 12_000_000, Payout: 9_600_000, Currency: market.Currency{'U', 'S', 'D'},
			Charges:    []CapCharge{{1, 1_799_971_200e9, 1}, {2, 1_799_971_200e9, 12_000_000}},
			Turn:       RotationTurn{Set: 1 << 60, Phase: 1 << 30, Member: 2},
			Duplicates: []DuplicateCheckValue{{Key: market.DuplicateKey{1}, Until: 1_802_592_000e9}, {Key: market.DuplicateKey{2}, Until: 1_802_592_000e9}},
		},
		Fields: []LeadField{{"state", market.KindString, []byte("CA")}, {"vehicle_count", market.KindInteger, []byte("2")}},
	}
	lead.Sealed = contact.AppendEncoded(nil)
	return lead
}

// agree decodes data in both ways.
func agree(t *testing.T, data []byte) (brief, whole error) {
	t.Helper()
	short, long := Decoder{ForReplay: true}, Decoder{}
	got, brief := short.Decode(data)
	want, whole := long.Decode(data)
	if whole != nil {
		return brief, whole
	}
	if brief != nil {
		t.Fatalf("%x is %+v, and briefly: %v", data, want, brief)
	}
	if lead, ok := want.(*LeadDecided); ok {
		lead.Trail, lead.Fields, lead.Auction, lead.SellerAuction = lead.Trail[:0], lead.Fields[:0], LeadDecisionAuction{}, ""
		if written := AppendRecord(nil, got); string(written) != string(AppendRecord(nil, lead)) {
			t.Fatalf("%x is %+v, and briefly %+v", data, lead, got)
		}
	}
	return brief, whole
}

// Whatever stands in a byte of a lead's frame, both readers take it, and as the
// same, or neither does. What is skipped may have any form.
func TestBriefRefusesWhatIsRefused(t *testing.T) {
	lead := typical()
	lead.Trail, lead.Fields, lead.DuplicateOf = nil, nil, market.LeadID{9}
	lead.Webhook, lead.Sale.Test = market.WebhookPosted, true
	lead.Post = PostIntent{URL: "https://buyer.example/post", Timeout: 5e9}
	frame := AppendRecord(nil, lead)
	refused := 0
	for at := range frame {
		for value := range 256 {
			if number := value >> 3; number == 11 || number == 15 || number == 18 || number == 19 {
				continue // it may now be the number of what is skipped
			}
			data := append([]byte(nil), frame...)
			data[at] = byte(value)
			brief, whole := agree(t, data)
			if (brief == nil) != (whole == nil) {
				t.Fatalf("byte %d is %#x: %v, and briefly %v", at, value, whole, brief)
			}
			if whole != nil {
				refused++
			}
		}
		if brief, whole := agree(t, frame[:at]); (brief == nil) != (whole == nil) {
			t.Fatalf("%d bytes of %d: %v, and briefly %v", at, len(frame), whole, brief)
		}
	}
	if refused < 1000 {
		t.Errorf("%d changes were refused, which shows little", refused)
	}
}

func FuzzBrief(f *testing.F) {
	for _, e := range everyKind() {
		f.Add(AppendRecord(nil, fill(e)))
	}
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, data) })
}
