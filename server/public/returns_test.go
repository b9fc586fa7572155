package public

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pingpost/server/servertest"
)

// returnsPage is a page of pending returns.
type returnsPage struct {
	Total   int    `json:"total"`
	Next    string `json:"next"`
	Returns []struct {
		Lead     string  `json:"lead_id"`
		Status   string  `json:"status"`
		Buyer    string  `json:"buyer_id"`
		Supplier string  `json:"supplier_id"`
		Campaign string  `json:"campaign_id"`
		Reason   string  `json:"reason"`
		Asked    string  `json:"asked_at"`
		Credit   float64 `json:"credit"`
		Reverse  float64 `json:"reverse"`
		Currency string  `json:"currency"`
	} `json:"returns"`
}

func TestOperatorDecidesReturns(t *testing.T) {
	m := newAfterSaleExchange(t, new(servertest.MemoryLog))
	address := serveAdmin(t, stubOperator{engine: m.engine.Load()})
	operate := func(method, path, body string) *apiAnswer {
		t.Helper()
		return m.request(method, "http://"+address+path, body, "Authorization", strings.TrimSpace(strings.TrimPrefix(servertest.BasicAuth, "Authorization: ")))
	}
	list := func(query string) returnsPage {
		t.Helper()
		return decodeAnswer[returnsPage](t, operate("GET", "/admin/v1/returns"+query, ""), 200)
	}
	if page := list(""); page.Total != 0 || len(page.Returns) != 0 {
		t.Errorf("%+v", page)
	}
	var leads []string
	for range 5 {
		leads = append(leads, m.sellLead("cmp_hand"))
	}
	slices.Sort(leads) // ids of the same millisecond have any order
	for i := range leads {
		m.report("red", leads[i], fmt.Sprint("k", i), fmt.Sprintf(`{"status":"returned","reason":"reason \"%d\""}`, i)).wantBody(t, `{"lead_id":"`+leads[i]+`","status":"ACCEPTED","return":"waiting"}`)
	}
	page := list("?limit=2")
	if page.Total != 5 || len(page.Returns) != 2 || page.Next != leads[1] {
		t.Fatalf("%+v", page)
	}
	if got := page.Returns[1]; got.Lead != leads[1] || got.Status != "ACCEPTED" || got.Buyer != "buy_red" || got.Supplier != "sup_acme" || got.Campaign != "cmp_hand" ||
		got.Reason != `reason "1"` || got.Asked == "" || got.Credit != 4 || got.Reverse != 4 || got.Currency != "USD" {
		t.Errorf("%+v", got)
	}
	if page = list("?limit=3&after=" + page.Next); len(page.Returns) != 3 || page.Returns[0].Lead != leads[2] || page.Next != leads[4] {
		t.Errorf("%+v", page)
	}
	if page = list("?after=" + leads[4]); page.Total != 5 || len(page.Returns) != 0 || page.Next != "" {
		t.Errorf("%+v", page)
	}
	for _, row := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"GET", "?limit=0", "", 422, "invalid_payload"},
		{"GET", "?limit=501", "", 422, "invalid_payload"},
		{"GET", "?limit=x&after=17", "", 422, "invalid_payload"},
		{"POST", "/" + leads[0], `{}`, 422, "invalid_payload"},
		{"POST", "/" + leads[0], `{"approve":null}`, 422, "invalid_payload"},
		{"POST", "/" + leads[0], `{"approve":"yes"}`, 422, "invalid_payload"},
		{"POST", "/" + leads[0], `{"approve":true,"note":"` + strings.Repeat("n", 1001) + `"}`, 422, "invalid_payload"},
		{"POST", "/" + leads[0], `approve`, 400, "malformed_json"},
		{"POST", "/17", `{"approve":true}`, 404, "not_found"},
		{"POST", "/" + unusedLeadID, `{"approve":true}`, 404, "not_found"},
		{"POST", "/" + m.sellLead("cmp_hand"), `{"approve":true}`, 409, "invalid_transition"},
		{"DELETE", "/" + leads[0], ``, 405, "method_not_allowed"},
	} {
		operate(row.method, "/admin/v1/returns"+row.path, row.body).wantError(t, row.status, row.code)
	}
	for i, decision := range []string{`{"approve":true,"note":"as agreed"}`, `{"approve":false}`} {
		if a := operate("POST", "/admin/v1/returns/"+leads[i], decision); a.status != 204 {
			t.Errorf("%d %s", a.status, a.body)
		}
		operate("POST", "/admin/v1/returns/"+leads[i], decision).wantError(t, 409, "invalid_transition")
	}
	if page = list(""); page.Total != 3 || page.Returns[0].Lead != leads[2] {
		t.Errorf("%+v", page)
	}
	m.report("red", leads[0], "last", `{"status":"returned","reason":"again"}`).wantBody(t, `{"lead_id":"`+leads[0]+`","status":"returned"}`)
	m.report("red", leads[1], "later", `{"status":"returned","reason":"again"}`).wantError(t, 409, "invalid_transition")
	if sum, _ := m.engine.Load().State().BuyerBalance(m.engine.Load().ActiveCatalogOrNil().Buyers["buy_red"].Ref); sum.String() != "-20" { // six sold, one returned
		t.Errorf("balance of red is %s, want -20", sum)
	}
}
