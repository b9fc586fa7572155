package buyer

import (
	"testing"

	"pingpost/engine/market"
	"pingpost/outbound/buyer/reading"
)

// FuzzAdapterAnswer reads arbitrary answers by arbitrary rules without a panic. A bid is
// one that the contract allows, and logged texts are codes or ids.
func FuzzAdapterAnswer(f *testing.F) {
	for _, seed := range []struct{ format, place, body string }{
		{"json", "a.b", `{"a":{"b":"1"}}`},
		{"json", "a.0.1", `{"a":[[1,"x\"]",{"b":null}]]}`},
		{"form", "a", "a=1&b=%20"},
		{"xml", "a/b", `<a><b>1</b></a>`},
		{"xml", "a/@b", "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><a b='1'>\xe9</a>"},
	} {
		f.Add(seed.format, seed.place, seed.body)
	}
	f.Fuzz(func(t *testing.T, format, place, body string) {
		for _, rules := range []market.BuyerAnswerValuePaths{
			{Format: format, Price: place, Reason: place, Currency: place},
			{Format: format, Price: place, Token: place, Accepted: place, Yes: "1\n"},
			{Format: format, Accepted: place, Yes: "1\n", No: "0\n", ID: place, Reason: place},
		} {
			extracted, ok := reading.New(&rules)
			if !ok {
				return
			}
			d := &validatedAdapter{rules: extracted}
			result := market.BuyerPingResult{Status: 200}
			d.setPingResult(&result, []byte(body), []byte("auc_1"))
			if bid := result.Bid; result.Outcome == market.OutcomeNone && (bid.Amount < 0 || bid.Amount > market.MaxMoney || bid.Token == "" || len(bid.Token) > market.MaxBidToken || !isVisibleASCII([]byte(bid.Token))) {
				t.Fatalf("%+v", bid)
			}
			if result.Outcome != market.OutcomeNone && result.Bid != (market.Bid{}) || result.Outcome == market.OutcomeNoBid && errorCodeOrEmpty(result.Reason) != result.Reason {
				t.Fatalf("%+v", result)
			}
			post := d.judgePostFrom2xxBody(market.BuyerPostResult{Status: 200}, []byte(body), true)
			if post.Verdict == 0 || errorCodeOrEmpty(post.Code) != post.Code || !isVisibleASCIIWithoutAt(post.BuyerLeadID) || len(post.BuyerLeadID) > maxLeadID {
				t.Fatalf("%+v", post)
			}
		}
	})
}
