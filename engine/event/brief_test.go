package event

import "testing"

// A replay may leave out what applying never looks at, and nothing else.
func TestBriefLeavesOutWhatIsNeverApplied(t *testing.T) {
	brief, whole := Decoder{Brief: true}, Decoder{}
	for _, e := range everyKind() {
		data := Append(nil, fill(e))
		want, err := whole.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		switch e := want.(type) {
		case *LeadDecided:
			if len(e.Fields) == 0 || len(e.Trail) == 0 || len(e.Auction.Bids) == 0 {
				t.Fatal("the lead has nothing to leave out")
			}
			e.Fields, e.Trail, e.Auction = nil, nil, Auction{}
		case *AuctionHeld:
			if len(e.Fields) == 0 || len(e.Trail) == 0 || len(e.Bids) == 0 || e.Theirs == "" {
				t.Fatal("the auction has nothing to leave out")
			}
			e.Fields, e.Trail, e.Bids, e.Theirs = nil, nil, nil, ""
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
