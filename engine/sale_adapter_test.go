package engine_test

import (
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/adapter"
	"pingpost/internal/must"
)

// speaking puts the template into the place of the contract for blue's posts.
func (x *exchange) speaking(template string) {
	x.t.Helper()
	adapter, mistakes := adapter.NewPostTemplate(market.FormatJSON, template, nil)
	if len(mistakes) > 0 {
		x.t.Fatal(mistakes)
	}
	c := x.configuration(x.rig)
	c.Document += template
	c.Catalog.Buyers["blue"].Post.Adapter = adapter
	must.Succeed(x.t, x.engine.Configure(c))
}

// A buyer's template is written with the terms of the promise: the auction, the
// token and the price of its bid.
func TestPostByATemplate(t *testing.T) {
	trading(t, "", bidders(), func(t *testing.T, x *exchange) {
		x.speaking(`{"auction_id":"{{auction}}","bid_token":"{{token}}","lead":{"lead_uuid":"{{lead_id}}","phone":"{{.phone}}"},"price": {{price}}}`)
		a := x.quoted(inquiry(1))
		answer := must.Value(x.sell(postOf(1, a)))(t)
		want := `{"auction_id":"` + a.ours.String() + `","bid_token":"` + x.world.tokenOf("blue", a.ours.String()) + `",` +
			`"lead":{"lead_uuid":"` + answer.Lead.String() + `","phone":"+14152000001"},"price": 10}`
		expectEqual(t, string(x.world.posts[0].body), want)
	})
}

// A lead for which a template writes too much goes to nobody; its room, its money
// and its bid are free.
func TestPostThatNoTemplateCanWrite(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := bidders()
		r.buyers[0].caps = []string{"day 1"}
		x := begin(t, r)
		x.speaking(`{"auction_id":"{{auction}}","bid_token":"{{token}}","lead":{"lead_uuid":"{{lead_id}}","phone":"{{.phone}}"},"city":"` +
			strings.Repeat("{{.city}}", 100) + `"}`)
		a := x.quoted(inquiry(1))
		p := postOf(1, a, "city", strings.Repeat("x", 2000))
		for range 2 {
			expectEqual(t, x.posted(p), rejected)
		}
		if len(x.world.tried()) > 0 || x.state.ReservationCount() != 0 {
			t.Errorf("posts %v, %d reservations", x.world.tried(), x.state.ReservationCount())
		}
		if balance, held := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, "blue")); balance != 100_000_000 || held != 0 {
			t.Errorf("the buyer has %s and %s held", balance, held)
		}
		expectEqual(t, x.posted(postOf(2, a)), taken, "another lead")
	})
}
