package market

import (
	"bytes"
	"cmp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func idGenerator() *rapid.Generator[[16]byte] {
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
		{string(ExchangeBidToken(highest).AppendAsText([]byte("x"))), "xbid_7zzzzzzzzzzzzzzzzzzzzzzzzz"},
		{LeadID(ComposeID(1_700_000_000_000, [10]byte{})).String(), "lead_01hf7yat000000000000000000"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
	if !(LeadID{}).IsZero() || LeadID(highest).IsZero() || !(RequestID{}).IsZero() || RequestID(highest).IsZero() ||
		!(AuctionID{}).IsZero() || AuctionID(highest).IsZero() || !(ExchangeBidToken{}).IsZero() || ExchangeBidToken(highest).IsZero() {
		t.Error("IsZero is wrong for a zero or a nonzero identifier")
	}
}

func TestIDTextRoundTripsAndKeepsByteOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := idGenerator().Draw(t, "a"), idGenerator().Draw(t, "b")
		text := LeadID(a).String()
		if back, ok := ParseLeadID(text); !ok || back != LeadID(a) {
			t.Fatalf("%s is parsed as %v, %t", text, back, ok)
		}
		if byText, byBytes := cmp.Compare(text, LeadID(b).String()), bytes.Compare(a[:], b[:]); byText != byBytes {
			t.Fatalf("%s and %s: text compares %d, bytes %d", text, LeadID(b), byText, byBytes)
		}
		if len(text) > 64 {
			t.Fatalf("%s is longer than the documented 64 bytes", text)
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

func TestParseLeadIDRejectsInvalidText(t *testing.T) {
	good := "lead_01hf7yat00041061050r3gg28a"
	if _, ok := ParseLeadID(good); !ok {
		t.Fatalf("valid id %s is rejected", good)
	}
	for name, wrong := range map[string]string{
		"empty":                      "",
		"prefix only":                "lead_",
		"no prefix":                  good[5:],
		"another prefix":             "auc_" + good[5:],
		"uppercase prefix":           "LEAD_" + good[5:],
		"too short":                  good[:len(good)-1],
		"too long":                   good + "0",
		"uppercase":                  "lead_" + strings.ToUpper(good[5:]),
		"letter not in the alphabet": good[:len(good)-1] + "u",
		"non-ASCII byte":             good[:len(good)-1] + "\xff",
		"more than 128 bits":         "lead_8" + good[6:],
		"trailing blank":             good[:len(good)-1] + " ",
		"leading blank":              " " + good,
		"trailing zero byte":         good[:len(good)-1] + "\x00",
	} {
		if id, ok := ParseLeadID(wrong); ok {
			t.Errorf("%s: %q is parsed as %s", name, wrong, id)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`lead_[0-9a-z]{24,28}`)).Draw(t, "text")
		if id, ok := ParseLeadID(text); ok && id.String() != text {
			t.Fatalf("%q is parsed as %s", text, id)
		}
	})
}

func TestIDParsersAcceptOnlyTheirPrefix(t *testing.T) {
	parsers := map[string]func(string) ([16]byte, bool){
		"lead_": func(s string) ([16]byte, bool) { id, ok := ParseLeadID(s); return id, ok },
		"auc_":  func(s string) ([16]byte, bool) { id, ok := ParseAuctionID(s); return id, ok },
		"ping_": func(s string) ([16]byte, bool) { id, ok := ParsePingID(s); return id, ok },
		"req_":  func(s string) ([16]byte, bool) { id, ok := ParseRequestID(s); return id, ok },
		"bid_":  func(s string) ([16]byte, bool) { id, ok := ParseExchangeBidToken(s); return id, ok },
	}
	rapid.Check(t, func(t *rapid.T) {
		id := idGenerator().Draw(t, "id")
		texts := map[string]string{
			"lead_": LeadID(id).String(), "auc_": AuctionID(id).String(), "ping_": PingID(id).String(),
			"req_": RequestID(id).String(), "bid_": string(ExchangeBidToken(id).AppendAsText(nil)),
		}
		for prefix, text := range texts {
			for other, parse := range parsers {
				back, ok := parse(text)
				if ok != (prefix == other) || (ok && back != id) {
					t.Fatalf("parser of %[2]s, text %[1]s: %[3]x, %[4]t", text, other, back, ok)
				}
			}
			if len(text) > 64 {
				t.Fatalf("%s is longer than the documented 64 bytes", text)
			}
		}
		// The supplier's and the buyer's id of an auction differ only in the prefix.
		if texts["auc_"][len("auc_"):] != texts["ping_"][len("ping_"):] {
			t.Fatalf("%s and %s differ in more than the prefix", texts["auc_"], texts["ping_"])
		}
	})
}
