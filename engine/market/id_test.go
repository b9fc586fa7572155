package market

import (
	"bytes"
	"cmp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func anyID() *rapid.Generator[[16]byte] {
	return rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(b []byte) [16]byte { return [16]byte(b) })
}

func TestIDText(t *testing.T) {
	var highest [16]byte
	for i := range highest {
		highest[i] = 0xff
	}
	for _, c := range []struct{ got, want string }{
		{LeadID{}.String(), "lead_00000000000000000000000000"},
		{LeadID(highest).String(), "lead_7zzzzzzzzzzzzzzzzzzzzzzzzz"},
		{LeadID{15: 1}.String(), "lead_00000000000000000000000001"},
		{LeadID{15: 32}.String(), "lead_00000000000000000000000010"},
		{AuctionID{7: 1}.String(), "auc_0000000000000g000000000000"},
		{RequestID{0: 0x80}.String(), "req_40000000000000000000000000"},
		{PingID(AuctionID{7: 1}).String(), "ping_0000000000000g000000000000"},
		{string(BidToken(highest).AppendTo([]byte("x"))), "xbid_7zzzzzzzzzzzzzzzzzzzzzzzzz"},
		{LeadID(ComposeID(1_700_000_000_000, [10]byte{})).String(), "lead_01hf7yat000000000000000000"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
	if !(LeadID{}).IsZero() || LeadID(highest).IsZero() || !(RequestID{}).IsZero() || RequestID(highest).IsZero() ||
		!(AuctionID{}).IsZero() || AuctionID(highest).IsZero() || !(BidToken{}).IsZero() || BidToken(highest).IsZero() {
		t.Error("only the zero identifier is zero")
	}
}

func TestIDTextReadsBackAndSortsAsItsBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyID().Draw(t, "a"), anyID().Draw(t, "b")
		text := LeadID(a).String()
		if back, ok := ParseLeadID(text); !ok || back != LeadID(a) {
			t.Fatalf("%s reads back as %v, %t", text, back, ok)
		}
		if byText, byBytes := cmp.Compare(text, LeadID(b).String()), bytes.Compare(a[:], b[:]); byText != byBytes {
			t.Fatalf("%s and %s: text compares %d, bytes %d", text, LeadID(b), byText, byBytes)
		}
		if len(text) > 64 {
			t.Fatalf("%s is longer than clients are told", text)
		}
	})
}

func TestIDKeepsAllRandomBits(t *testing.T) {
	random := [10]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	id := ComposeID(0x0123456789ab, random)
	if want := [16]byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; id != want {
		t.Errorf("%x, want %x", id, want)
	}
}

func TestParseLeadIDRefusesEverythingElse(t *testing.T) {
	good := "lead_01hf7yat00041061050r3gg28a"
	if _, ok := ParseLeadID(good); !ok {
		t.Fatalf("%s is refused", good)
	}
	for name, wrong := range map[string]string{
		"empty":               "",
		"prefix alone":        "lead_",
		"no prefix":           good[5:],
		"another's prefix":    "auc_" + good[5:],
		"prefix in capitals":  "LEAD_" + good[5:],
		"too short":           good[:len(good)-1],
		"too long":            good + "0",
		"capitals":            "lead_" + strings.ToUpper(good[5:]),
		"a letter left out":   good[:len(good)-1] + "u",
		"a byte past ASCII":   good[:len(good)-1] + "\xff",
		"more than 128 bits":  "lead_8" + good[6:],
		"a blank at the end":  good[:len(good)-1] + " ",
		"a blank before":      " " + good,
		"a zero byte at last": good[:len(good)-1] + "\x00",
	} {
		if id, ok := ParseLeadID(wrong); ok {
			t.Errorf("%s: %q is taken for %s", name, wrong, id)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`lead_[0-9a-z]{24,28}`)).Draw(t, "text")
		if id, ok := ParseLeadID(text); ok && id.String() != text {
			t.Fatalf("%q is taken for %s", text, id)
		}
	})
}

// Each kind of text is read by its own reader, and by no other.
func TestEveryIDIsReadByItsPrefix(t *testing.T) {
	readers := map[string]func(string) ([16]byte, bool){
		"lead_": func(s string) ([16]byte, bool) { id, ok := ParseLeadID(s); return id, ok },
		"auc_":  func(s string) ([16]byte, bool) { id, ok := ParseAuctionID(s); return id, ok },
		"ping_": func(s string) ([16]byte, bool) { id, ok := ParsePingID(s); return id, ok },
		"req_":  func(s string) ([16]byte, bool) { id, ok := ParseRequestID(s); return id, ok },
		"bid_":  func(s string) ([16]byte, bool) { id, ok := ParseBidToken(s); return id, ok },
	}
	rapid.Check(t, func(t *rapid.T) {
		id := anyID().Draw(t, "id")
		texts := map[string]string{
			"lead_": LeadID(id).String(), "auc_": AuctionID(id).String(), "ping_": PingID(id).String(),
			"req_": RequestID(id).String(), "bid_": string(BidToken(id).AppendTo(nil)),
		}
		for prefix, text := range texts {
			for other, read := range readers {
				back, ok := read(text)
				if ok != (prefix == other) || (ok && back != id) {
					t.Fatalf("%s, read as %s…: %x, %t", text, other, back, ok)
				}
			}
			if len(text) > 64 {
				t.Fatalf("%s is longer than clients are told", text)
			}
		}
		// A supplier's name of an auction and a buyer's differ by the prefix alone.
		if texts["auc_"][len("auc_"):] != texts["ping_"][len("ping_"):] {
			t.Fatalf("%s and %s are two auctions", texts["auc_"], texts["ping_"])
		}
	})
}
