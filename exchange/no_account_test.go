package exchange

import (
	"strings"
	"testing"
)

// TestBuyerWithoutFunds: a buyer without funds has no account. Its sales make no
// balance, a top-up is 409 no_account, and its statement has neither. Once it has
// funds, its account begins with the opening balance.
func TestBuyerWithoutFunds(t *testing.T) {
	config := trading("ping_post", reference(t, "12.5"))
	x := start(t, newPlace(t, config))
	x.sold(lead(1))
	const path = "/admin/v1/buyers/buy_1/funds"
	if got := x.must(200, "GET", path, "").body; got != "{\"held\":0}\n" {
		t.Errorf("after a sale: %s", got)
	}
	for _, amount := range []string{"5", "-5"} {
		a := x.operate("POST", path, `{"amount":`+amount+`}`)
		a.mustFail(t, 409, "no_account")
		if !strings.Contains(a.body, "buy_1") || !strings.Contains(a.body, "funds") {
			t.Errorf("it does not say what to do: %s", a.body)
		}
	}
	x.operate("POST", path, `{"amount":0}`).mustFail(t, 422, "invalid_payload")
	statement := x.must(200, "GET", "/admin/v1/statement?buyer=buy_1", "").body
	if strings.Contains(statement, "top_up") || !strings.Contains(statement, `"opening":null`) || !strings.Contains(statement, `"closing":null`) {
		t.Errorf("%s", statement)
	}
	x.must(200, "PUT", "/admin/v1/config", strings.Replace(config, "  - id: buy_1\n", "  - id: buy_1\n    funds: {balance: 100}\n", 1))
	if got := x.must(200, "POST", path, `{"amount":5}`).body; got != "{\"balance\":105,\"held\":0}\n" {
		t.Errorf("with funds: %s", got)
	}
	if statement := x.must(200, "GET", "/admin/v1/statement?buyer=buy_1", "").body; !strings.Contains(statement, "top_up") {
		t.Errorf("with funds: %s", statement)
	}
}
