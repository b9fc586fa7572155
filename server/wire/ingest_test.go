package wire

import (
	"encoding/json"
	"testing"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

func TestIngestAnswerIsValidJSON(t *testing.T) {
	currency, _ := market.ParseCurrency("USD")
	for _, a := range []engine.IngestAnswer{
		{Accepted: true, Buyer: `b"\`, Campaign: "c\n", Payout: 9_640_000, Currency: currency},
		{Reason: market.ReasonTimeout, Campaign: `"`},
	} {
		var got struct {
			Data struct {
				Status   string
				BuyerID  *string `json:"buyer_id"`
				Campaign string  `json:"campaign_id"`
				Reason   string
				Price    *struct{ Amount json.Number }
			}
		}
		must.Succeed(t, json.Unmarshal(AppendIngestAnswer(nil, &a), &got))
		d := got.Data
		if a.Accepted && (*d.BuyerID != a.Buyer || d.Price.Amount != "9.64" || d.Reason != "") || !a.Accepted && (d.BuyerID != nil || d.Price != nil || d.Reason != "timeout") || d.Campaign != a.Campaign {
			t.Errorf("%+v of %+v", d, a)
		}
	}
}
