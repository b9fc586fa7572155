package exchange

import (
	"strings"
	"testing"
)

// TestBuyerWithoutFunds: a buyer without funds has no account: its sales make no balance and a
// top-up is 409 no_account. With funds, its account begins with the opening balance.
func TestBuyerWithoutFunds(t *testing.T) {
	t.Parallel()
	config := referenceConfig("ping_post", startReferenceBuyer(t, "12.5"))
	x := start(t, newTestDir(t, config))
	x.mustSell(leadBody(1))
	const path = "/admin/v1/buyers/buy_1/funds"
	if got := x.mustAdmin(200, "GET", path, "").body; got != "{\"held\":0,\"currency\":\"USD\"}\n" {
		t.Errorf("after a sale: %s", got)
	}
	for _, amount := range []string{"5", "-5"} {
		a := x.adminRequest("POST", path, `{"amount":`+amount+`}`)
		a.mustFail(t, 409, "no_account")
		if !strings.Contains(a.body, "buy_1") || !strings.Contains(a.body, "funds") {
			t.Errorf("error names neither the buyer nor its funds: %s", a.body)
		}
	}
	x.adminRequest("POST", path, `{"amount":0}`).mustFail(t, 422, "invalid_payload")
	statement := x.mustAdmin(200, "GET", "/admin/v1/statement?buyer=buy_1", "").body
	if strings.Contains(statement, "top_up") || !strings.Contains(statement, `"opening":null`) || !strings.Contains(statement, `"closing":null`) {
		t.Errorf("statement without funds has an account: %s", statement)
	}
	x.mustAdmin(200, "PUT", "/admin/v1/config", strings.Replace(config, "  - id: buy_1\n", "  - id: buy_1\n    funds: {balance: 100}\n", 1))
	if got := x.mustAdmin(200, "POST", path, `{"amount":5}`).body; got != "{\"balance\":105,\"held\":0,\"currency\":\"USD\"}\n" {
		t.Errorf("with funds: %s", got)
	}
	if statement := x.mustAdmin(200, "GET", "/admin/v1/statement?buyer=buy_1", "").body; !strings.Contains(statement, "top_up") {
		t.Errorf("with funds: %s", statement)
	}
}
