package exchange

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
)

// statementAnswer is a statement of the admin API.
type statementAnswer struct {
	Currency         string
	From, To         time.Time
	Opening, Closing *struct{ Balance, Held json.Number }
	Totals           []struct {
		Kind, CampaignID string
		Count            int
		Amount           json.Number
	}
	Count   int
	Entries []struct {
		Kind            string
		LeadID          string `json:"lead_id"`
		CampaignID      string `json:"campaign_id"`
		Currency        string
		Amount, Balance json.Number
		Note            string
	}
}

func (r *testExchange) statement(query string) statementAnswer {
	r.t.Helper()
	return decode[statementAnswer](r.t, r.mustAdmin(200, "GET", "/admin/v1/statement?"+query, ""))
}

// String returns the opening balance, each entry, and the closing balance.
func (a statementAnswer) String() string {
	words := []string{}
	if a.Opening != nil {
		words = append(words, fmt.Sprint("opening ", a.Opening.Balance, "/", a.Opening.Held))
	}
	for _, e := range a.Entries {
		text := fmt.Sprint(e.Kind, " ", e.Amount)
		if e.Balance != "" {
			text += fmt.Sprint(" = ", e.Balance)
		}
		words = append(words, text)
	}
	if a.Closing != nil {
		words = append(words, fmt.Sprint("closing ", a.Closing.Balance, "/", a.Closing.Held))
	}
	return strings.Join(words, ", ")
}

// TestStatementsOfBuyersAndSuppliers: top-ups, sales and refusals, equal to the buyer's account,
// before and after a restart.
func TestStatementsOfBuyersAndSuppliers(t *testing.T) {
	t.Parallel()
	refusal := reply(422, `{"error":"post_rejected","message":"no","request_id":"r"}`)
	blue, red := newFakeBuyer(t, reply(200, `{"lead_id":"1"}`), refusal), newFakeBuyer(t)
	x := start(t, newTestDir(t, deliveryConfig(blue, red)))
	first := x.mustSell(leadBody(1)).leadID()                                                                // sold to blue
	second := x.mustSell(leadBody(2)).leadID()                                                               // refused by blue, sold to red
	x.mustAdmin(200, "POST", "/admin/v1/buyers/buy_blue/funds", `{"amount":0.000001,"note":"wire, \"17\""}`) // the smallest amount
	for i := range 2 {
		x.mustSell(leadBody(3 + i))
	}
	want := "opening 0/0, opening 1000 = 1000, sale -5 = 995, top_up 0.000001 = 995.000001, sale -5 = 990.000001, sale -5 = 985.000001, closing 985.000001/0"
	for range 2 {
		a := x.statement("buyer=buy_blue")
		if a.String() != want || a.Currency != "USD" || a.Count != 5 || a.Entries[1].LeadID != first || a.Entries[1].CampaignID != "cmp" || a.Entries[2].Note != `wire, "17"` {
			t.Errorf("statement of blue: %s\nwant %s\n%+v", a, want, a)
		}
		x.checkBlueFunds(fmt.Sprintf(`{"balance":%s,"held":%s,"currency":"USD"}`, a.Closing.Balance, a.Closing.Held))
		if a := x.statement("buyer=buy_red"); a.String() != "sale -4" || a.Entries[0].LeadID != second || a.Entries[0].Currency != "USD" {
			t.Errorf("statement of red: %s %+v", a, a)
		}
		if a := x.statement("supplier=sup_acme"); a.String() != "sale 5, sale 4, sale 5, sale 5" || len(a.Totals) != 1 || a.Totals[0].Amount != "19" || a.Totals[0].Count != 4 {
			t.Errorf("statement of acme: %s %+v", a, a)
		}
		if a := x.statement("supplier=sup_other"); a.Count != 0 || len(a.Entries) != 0 || a.Totals == nil {
			t.Errorf("statement of the other supplier: %+v", a)
		}
		x = x.restart()
	}
	now := time.Now().UTC()
	if a := x.statement("buyer=buy_blue"); !a.From.Equal(time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)) || !a.To.Equal(a.From.AddDate(0, 1, 0)) {
		t.Errorf("current month is from %s to %s", a.From, a.To)
	}
	if a := x.statement("buyer=buy_blue&from=2100-01-01"); a.String() != "opening 985.000001/0, closing 985.000001/0" {
		t.Errorf("period in the future: %s", a)
	}
	if a := x.statement("buyer=buy_blue&from=2000-01-01&to=2000-02-01"); a.String() != "opening 0/0, closing 0/0" {
		t.Errorf("period in the past: %s", a)
	}
	rows, err := csv.NewReader(strings.NewReader(x.mustAdmin(200, "GET", "/admin/v1/statement?buyer=buy_blue&format=csv", "").body)).ReadAll()
	if err != nil || len(rows) != 6 || rows[3][6] != "0.000001" || rows[3][7] != "995.000001" || rows[3][8] != `wire, "17"` {
		t.Errorf("unexpected CSV: %v %q", err, rows)
	}
}

// TestStatementWhileSelling: a statement has the sums of one log position.
func TestStatementWhileSelling(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, strings.Replace(baseConfig, "states: [CA, NV]", "funds: {balance: 1000000}", 1)))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 200 {
			x.ingest(leadBody(i))
		}
	}()
	const price, opening = 12_050_000, 1_000_000_000_000
	for sold := -1; sold < 200; {
		a := x.statement("buyer=buy_blue")
		if closing, entries := a.Closing.Balance.String(), len(a.Entries)-1; entries < sold || entries != a.Count-1 ||
			closing != market.Money(opening-entries*price).String() || a.Entries[entries].Balance.String() != closing {
			t.Fatalf("%d sales after %d, closing balance %s", entries, sold, closing)
		} else if sold = entries; sold < 200 {
			select {
			case <-done:
				if sold = len(x.statement("buyer=buy_blue").Entries) - 1; sold != 200 {
					t.Fatalf("%d sales of 200", sold)
				}
			default:
			}
		}
	}
	<-done
}

// reportStatus reports a status of a lead as the buyer's OAuth client blue.
func (r *testExchange) reportStatus(lead, status string) {
	r.t.Helper()
	token := r.mustToken("blue", acmeSecret)
	eventually(r.t, "the report is accepted", func() bool { // repeats it after a 429
		a := request(r.t, "POST", "http://"+r.PublicAddress()+"/v1/leads/"+lead+"/status", `{"status":"`+status+`","reason":"wrong number"}`,
			"Authorization", "Bearer "+token, "Content-Type", jsonType, "Idempotency-Key", status+lead)
		if a.status != 429 {
			a.mustHave(r.t, 200)
		}
		return a.status != 429
	})
}

// TestStatementsShowReturns: a return is in the buyer's statement and, if the campaign reverses the
// payout, in the supplier's.
func TestStatementsShowReturns(t *testing.T) {
	t.Parallel()
	config := strings.Replace(baseConfig, "states: [CA, NV]", `funds: {balance: 100}, oauth_clients: [{client_id: blue, client_secret: "`+acmeSecret+`"}]`, 1)
	const buyer = "opening 0/0, opening 100 = 100, sale -12.05 = 87.95, sale -12.05 = 75.9, return 12.05 = 87.95, closing 87.95/0"
	for rule, supplier := range map[string]string{
		"{reverse_payout: true}":  "sale 9.64, sale 9.64, reversal -9.64",
		"{reverse_payout: false}": "sale 9.64, sale 9.64",
	} {
		t.Run(rule, func(t *testing.T) {
			x := start(t, newTestDir(t, strings.Replace(config, "    payout: {share: 0.8}\n", "    payout: {share: 0.8}\n    returns: "+rule+"\n", 1)))
			first := x.mustSell(leadBody(1)).leadID()
			second := x.mustSell(leadBody(2)).leadID()
			x.reportStatus(first, "contacted")
			x.reportStatus(second, "returned")
			for range 2 {
				a := x.statement("buyer=buy_blue")
				if a.String() != buyer || a.Entries[3].LeadID != second || a.Entries[3].Currency != "USD" {
					t.Errorf("statement of blue: %s\nwant %s", a, buyer)
				}
				if a := x.statement("supplier=sup_acme"); a.String() != supplier {
					t.Errorf("statement of acme: %s\nwant %s", a, supplier)
				}
				x = x.restart()
			}
		})
	}
}
