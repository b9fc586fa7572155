package buyer

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
)

// After a 429 the client sends no ping until the time that the buyer named.
func TestPingsPauseAfter429(t *testing.T) {
	tooMany, no := "429 Too Many Requests", answers("200 OK", `{"auction_id":"auc_1","bid":null}`)
	rows := []struct {
		name   string
		header string
		pause  time.Duration
	}{
		{"seconds", "Retry-After: 7", 7 * time.Second},
		{"a date", "Retry-After: Mon, 02 Mar 2026 12:00:30 GMT", 30 * time.Second},
		{"no Retry-After", "X: y", time.Second},
		{"zero seconds", "Retry-After: 0", 0},
		{"a day is cut to an hour", "Retry-After: 86400", time.Hour},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			buyer := listen(t, answers(tooMany, `{"error":"rate_limited"}`, row.header), no)
			now := noon
			client := newClient(t, func(o *Options) { o.Now = func() time.Time { return now } })
			limited := client.Ping(pingTo(buyer.ping(), longTimeout))
			if limited.Outcome != market.OutcomeRateLimited || limited.Status != 429 {
				t.Errorf("got %+v, want rate_limited and status 429", limited)
			}
			if row.pause > 0 {
				now = noon.Add(row.pause - time.Millisecond)
				want := market.BuyerPingResult{Outcome: market.OutcomeRateLimited, RetryAfter: time.Millisecond}
				if got := withoutTimes(client.Ping(pingTo(buyer.ping(), longTimeout))); got != want || len(buyer.Requests()) != 1 {
					t.Errorf("a millisecond before the end: %+v, %d requests", got, len(buyer.Requests()))
				}
			}
			now = noon.Add(row.pause)
			if got := client.Ping(pingTo(buyer.ping(), longTimeout)); got.Outcome != market.OutcomeNoBid {
				t.Errorf("at the end: %+v", got)
			}
		})
	}
}

// A pause affects neither posts nor other endpoints at the same address.
func TestPingPauseIsPerBuyer(t *testing.T) {
	buyer := listen(t, answers("429 Too Many Requests", ``, "Retry-After: 60"), answers("200 OK", `{"auction_id":"auc_1","bid":null}`))
	client := newClient(t, func(o *Options) { o.Secrets = func(string) (string, bool) { return "s", true } })
	pingAs := func(credential string) market.BuyerOutcome {
		p := pingTo(buyer.ping(), longTimeout)
		p.Endpoint.Credential, p.Endpoint.Header = credential, "x-api-key"
		return client.Ping(p).Outcome
	}
	if first, second, other := pingAs("blue"), pingAs("blue"), pingAs("red"); first != market.OutcomeRateLimited || second != first || other != market.OutcomeNoBid {
		t.Errorf("got %v, %v, another buyer: %v; want rate_limited twice, then no_bid", first, second, other)
	}
	p := postTo(buyer.ping(), longTimeout)
	p.Endpoint.Credential, p.Endpoint.Header = "blue", "x-api-key"
	if got := client.Post(p); got.Status != 200 {
		t.Errorf("post: got %+v, want status 200", got)
	}
}

// A test's 429 pauses no production ping, and a pause does not stop tests.
func Test429PausesOnlyPingsOfItsMode(t *testing.T) {
	no := answers("200 OK", `{"auction_id":"auc_1","bid":null}`)
	limited := answers("429 Too Many Requests", ``, "Retry-After: 60")
	buyer := listen(t, limited, no, limited, no)
	client := newClient(t, nil)
	ping := func(test bool) market.BuyerOutcome {
		p := pingTo(buyer.ping(), longTimeout)
		p.Test = test
		return client.Ping(p).Outcome
	}
	got := []market.BuyerOutcome{ping(true), ping(false), ping(false), ping(true), ping(false)}
	want := []market.BuyerOutcome{market.OutcomeRateLimited, market.OutcomeNoBid, market.OutcomeRateLimited, market.OutcomeNoBid, market.OutcomeRateLimited}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	var tests []string
	for _, request := range buyer.Requests() {
		tests = append(tests, request.Header.Get("X-Pingpost-Test"))
	}
	if !slices.Equal(tests, []string{"1", "", "", "1"}) {
		t.Errorf("the endpoint received %q", tests)
	}
}

// Answers to parallel pings arrive in any order; the longest pause applies.
func TestPingPauseIsNeverShortened(t *testing.T) {
	var endpoint buyerEndpoint
	for _, row := range []struct{ wait, pause time.Duration }{
		{5 * time.Second, 5 * time.Second},
		{2 * time.Second, 5 * time.Second},
		{9 * time.Second, 9 * time.Second},
		{1 * time.Second, 9 * time.Second},
	} {
		endpoint.pausePings(row.wait, noon)
		if got := endpoint.remainingPauseAfter429(noon); got != row.pause {
			t.Errorf("after a pause of %v: %v remain, want %v", row.wait, got, row.pause)
		}
	}
	if got := endpoint.remainingPauseAfter429(noon.Add(time.Minute)); got != 0 {
		t.Errorf("after the end: %v", got)
	}
}

// The number of remembered endpoints is limited, and equal endpoints share an entry.
func TestAccountCacheIsSharedAndLimited(t *testing.T) {
	client := newClient(t, nil)
	at := func(scope string) *buyerEndpoint {
		a, fault := client.endpoints.findOrCreate(dial.ConnOwner{}, &market.OutboundEndpoint{
			URL: "https://blue.example/v1/ping", Credential: "c", Header: "Authorization",
			OAuth: &market.OutboundOAuthClient{TokenURL: "https://blue.example/token", ClientID: "x", Scope: scope},
		})
		if fault != market.FaultNone {
			t.Fatal(fault)
		}
		return a
	}
	ping, again, other := at("ping"), at("ping"), at("post")
	if ping != again || ping == other {
		t.Error("equal endpoints must share an entry, other endpoints must not")
	}
	if ping.Target != other.Target || ping.auth == other.auth {
		t.Error("endpoints that differ in scope must share the address, not the token")
	}
	post, _ := client.endpoints.findOrCreate(dial.ConnOwner{}, &market.OutboundEndpoint{
		URL: "https://blue.example/v1/post", Credential: "c", Header: "Authorization",
		OAuth: &market.OutboundOAuthClient{TokenURL: "https://blue.example/token", ClientID: "x", Scope: "ping"},
	})
	if post == ping || post.auth != ping.auth {
		t.Error("pings and posts of one OAuth client must share its token")
	}
	plain := func(header string, change func(*market.OutboundEndpoint)) *buyerEndpoint {
		e := &market.OutboundEndpoint{URL: "https://blue.example/v1/ping", Credential: "c", Header: header}
		if change != nil {
			change(e)
		}
		a, fault := client.endpoints.findOrCreate(dial.ConnOwner{}, e)
		if fault != market.FaultNone {
			t.Fatal(fault)
		}
		return a
	}
	secret := plain("Authorization", nil)
	if plain("Authorization", nil) != secret || plain("X-Key", nil) == secret || secret == ping {
		t.Error("endpoints with a plain secret: equal ones must share an entry, others must not")
	}
	if plain("Authorization", func(e *market.OutboundEndpoint) {
		e.OAuth = &market.OutboundOAuthClient{TokenURL: "https://blue.example/token", ClientID: "x"}
	}) == secret {
		t.Error("an OAuth client must not share the entry of a fixed secret")
	}
	if plain("Authorization", func(e *market.OutboundEndpoint) {
		e.AdapterProtocol = &market.AdapterProtocol{Method: "PUT", ContentType: "text/xml", Answer: market.BuyerAnswerValuePaths{Format: market.FormatXML}}
	}) == secret {
		t.Error("an endpoint with an adapter protocol must not share the entry of one without")
	}
	for i := range 2 * maxBuyerEndpoints {
		client.endpoints.findOrCreate(dial.ConnOwner{}, &market.OutboundEndpoint{URL: "https://blue.example/", Credential: strconv.Itoa(i), Header: "Authorization"})
		if n, p := len(client.endpoints.byKey), len(client.endpoints.byPlainKey); n > maxBuyerEndpoints || p > n {
			t.Fatalf("got %d endpoints, %d of them plain, want at most maxBuyerEndpoints", n, p)
		}
	}
	for i := range 2 * maxBuyerEndpoints {
		client.endpoints.findOrCreate(dial.ConnOwner{}, &market.OutboundEndpoint{URL: "https://blue.example/", Credential: strconv.Itoa(i), Header: "Authorization", OAuth: &market.OutboundOAuthClient{ClientID: "x"}})
		if n, g := len(client.endpoints.byKey), len(client.tokenSources.byKey); n > maxBuyerEndpoints || g > maxTokenSources {
			t.Fatalf("got %d endpoints and %d token sources, more than the limits", n, g)
		}
	}
}
