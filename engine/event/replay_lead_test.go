package event

import (
	"testing"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// A decoder for replay skips the fields that Apply does not read, and no others.
func TestReplayDecoderSkipsOnlyUnappliedFields(t *testing.T) {
	replay, full := Decoder{ForReplay: true}, Decoder{}
	for _, e := range emptyEvents() {
		data := AppendRecord(nil, fill(e))
		want, err := full.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		switch e := want.(type) {
		case *LeadDecided:
			if len(e.Fields) == 0 || len(e.Trail) == 0 || len(e.Auction.Bids) == 0 || e.SellerAuction == "" {
				t.Fatal("the lead has no fields to skip")
			}
			e.Fields, e.Trail, e.Auction, e.SellerAuction = nil, nil, AuctionOfIngestedLead{}, ""
		case *PingAuctionCompleted:
			if len(e.Fields) == 0 || len(e.Trail) == 0 || len(e.Bids) == 0 || e.SellerAuction == "" || !e.Test || e.FiltersPassed == 0 {
				t.Fatal("the auction has no fields to skip")
			}
			e.Fields, e.Trail, e.Bids, e.SellerAuction, e.Test, e.FiltersPassed = nil, nil, nil, "", false, 0
		}
		got, err := replay.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if !equalEvents(got, want) {
			t.Errorf("%s: %+v, want %+v", e.Kind(), got, want)
		}
	}
}

// typicalLead returns a sold lead with two caps, a turn, two duplicate keys, and a trail over a
// few filter sets.
func typicalLead() *LeadDecided {
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

// compareDecoders decodes data for replay and fully, and compares the results.
func compareDecoders(t *testing.T, data []byte) (replayErr, fullErr error) {
	t.Helper()
	replay, full := Decoder{ForReplay: true}, Decoder{}
	got, replayErr := replay.Decode(data)
	want, fullErr := full.Decode(data)
	if fullErr != nil {
		return replayErr, fullErr
	}
	if replayErr != nil {
		t.Fatalf("%x is %+v, but the replay decoder fails: %v", data, want, replayErr)
	}
	if lead, ok := want.(*LeadDecided); ok {
		lead.Trail, lead.Fields, lead.Auction, lead.SellerAuction = lead.Trail[:0], lead.Fields[:0], AuctionOfIngestedLead{}, ""
		if written := AppendRecord(nil, got); string(written) != string(AppendRecord(nil, lead)) {
			t.Fatalf("%x is %+v, but the replay decoder returns %+v", data, lead, got)
		}
	}
	return replayErr, fullErr
}

// Each byte of a lead's record takes all values. Both decoders accept it with the same result,
// or both reject it. A skipped field may have any form.
func TestReplayDecoderRejectsSameRecords(t *testing.T) {
	lead := typicalLead()
	lead.Trail, lead.Fields, lead.DuplicateOf = nil, nil, market.LeadID{9}
	lead.Webhook, lead.Sale.Test = market.WebhookPosted, true
	lead.Post = PostIntent{URL: "https://buyer.example/post", Timeout: 5e9}
	frame := AppendRecord(nil, lead)
	step, rejected := 1, 0
	if testing.Short() {
		step = 7
	}
	for at := range frame {
		for value := 0; value < 256; value += step {
			if number := value >> 3; number == 11 || number == 15 || number == 18 || number == 19 {
				continue // it may now be the number of a skipped field
			}
			data := append([]byte(nil), frame...)
			data[at] = byte(value)
			replayErr, fullErr := compareDecoders(t, data)
			if (replayErr == nil) != (fullErr == nil) {
				t.Fatalf("byte %d is %#x: error %v, for replay %v", at, value, fullErr, replayErr)
			}
			if fullErr != nil {
				rejected++
			}
		}
		if replayErr, fullErr := compareDecoders(t, frame[:at]); (replayErr == nil) != (fullErr == nil) {
			t.Fatalf("%d bytes of %d: error %v, for replay %v", at, len(frame), fullErr, replayErr)
		}
	}
	if rejected < 1000 {
		t.Errorf("%d changed records were rejected, want at least 1000", rejected)
	}
}

// FuzzBrief compares the decoder for replay with the full one.
func FuzzBrief(f *testing.F) {
	for _, e := range emptyEvents() {
		f.Add(AppendRecord(nil, fill(e)))
	}
	f.Fuzz(func(t *testing.T, data []byte) { compareDecoders(t, data) })
}
