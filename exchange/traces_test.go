package exchange

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/exchange/golden"
	"pingpost/internal/trace/tracetest"
)

// traced is a configuration whose traces go to a collector.
func traced(config string, c *tracetest.Collector, sample string) string {
	return config + fmt.Sprintf("traces: {endpoint: %q, sample: %s, headers: [{name: authorization, value: \"${BLUE_TOKEN}\"}]}\n", c.URL, sample)
}

// drawnWith are the attributes that trees are shown with: those that are the same in each run.
var drawnWith = []string{
	"http.response.status_code", "error.type", "pingpost.caller_id", "pingpost.campaign_id", "pingpost.outcome", "pingpost.reason",
	"pingpost.buyer_id", "pingpost.fault", "pingpost.replayed", "pingpost.test",
}

// drawn are the trees of all requests, in their order, when the exchange has stopped.
func (r *running) drawn(c *tracetest.Collector) (roots []tracetest.Span, trees []string) {
	r.t.Helper()
	r.stop()
	spans := c.Spans()
	roots = tracetest.Roots(spans)
	seen := 0
	for _, root := range roots {
		for _, wrong := range tracetest.Defects(spans, root) {
			r.t.Error(wrong)
		}
		tree := tracetest.Tree(spans, root, drawnWith...)
		seen += strings.Count(tree, "\n") + 1
		trees = append(trees, tree)
	}
	if seen != len(spans) {
		r.t.Errorf("%d spans, and %d of them below a request", len(spans), seen)
	}
	return roots, trees
}

// compareTraces compares the trees with testdata/NAME.golden, each under what its request does.
func compareTraces(t *testing.T, name string, requests, trees []string) {
	t.Helper()
	if len(trees) != len(requests) {
		t.Fatalf("%d requests were drawn:\n%s", len(trees), strings.Join(trees, "\n"))
	}
	var text strings.Builder
	for i, tree := range trees {
		fmt.Fprintf(&text, "# %s\n%s\n", requests[i], tree)
	}
	golden.CompareWithFile(t, name, text.String())
}

// TestTracesOfPosts: leads, and what becomes of them without an auction.
func TestTracesOfPosts(t *testing.T) {
	c := tracetest.Listen(t)
	no, broken := says(422, `{"error":"post_rejected","message":"no","request_id":"r"}`), says(500, "")
	yes := says(201, `{"lead_id":"x"}`)
	blue, red := newTaker(t, no, broken, yes, no), newTaker(t, yes, no)
	x := start(t, newPlace(t, traced(delivered(blue, red), c, "1")))
	var requests []string
	var answers []*answer
	for _, step := range []struct {
		what string
		do   func() *answer
	}{
		{"a refusal, and the next buyer", func() *answer { return x.sold(lead(1), "Idempotency-Key", "k") }},
		{"the same again", func() *answer { return x.ingest(lead(1), "Idempotency-Key", "k") }},
		{"doubt, and the same buyer again", func() *answer { return x.sold(lead(2)) }},
		{"nobody", func() *answer { return x.ingest(lead(3)) }},
		{"no such campaign", func() *answer { return x.ingest(lead(4, "flo_campaign_id", `"nobody"`)) }},
		{"no JSON", func() *answer { return x.ingest(lead(4) + "}") }},
	} {
		requests, answers = append(requests, step.what), append(answers, step.do())
	}
	request(t, "POST", "http://"+x.PublicAddress()+"/api/v1/ingest", lead(5), "X-Api-Key", "no-such-key", "Content-Type", typeIsOwn).mustFail(t, 401, "unauthorized")
	request(t, "GET", "http://"+x.PublicAddress()+"/api/v1/leads/"+answers[0].leadID(), "", "X-Api-Key", acmeKey)
	roots, trees := x.drawn(c)
	compareTraces(t, "traces_posts", requests, trees)
	if said := roots[0].Attributes; said["pingpost.request_id"] != answers[0].id() || said["pingpost.lead_id"] != answers[0].leadID() || said["http.request.body.size"] != fmt.Sprint(len(lead(1))) {
		t.Errorf("%v of %s", said, answers[0].body)
	}
	if all := c.Resource(); all["service.name"] != "pingpost" || all["service.namespace"] != "production" {
		t.Error(all)
	}
	if c.Headers()[0].Get("Authorization") != "Bearer "+bearer && c.Headers()[0].Get("Authorization") != bearer {
		t.Error("the collector was not drawnWith its credential")
	}
	for i, post := range append(blue.got(), red.got()...) {
		if parent := post.header.Get("Traceparent"); !isCall(c.Spans(), parent) {
			t.Errorf("post %d came with traceparent %q, which is no call", i, parent)
		}
	}
}

// isCall tells whether a traceparent is that of a call to a buyer.
func isCall(spans []tracetest.Span, parent string) bool {
	for _, s := range spans {
		if s.Kind == "client" && parent == "00-"+s.Trace+"-"+s.ID+"-01" {
			return true
		}
	}
	return false
}

// TestTracesOfAuctions: pings, posts and a buyer's report.
func TestTracesOfAuctions(t *testing.T) {
	c := tracetest.Listen(t)
	low, high := reference(t, "9"), reference(t, "12.5")
	silent := newTaker(t, hangs) // and then answers as to a post
	config := strings.Replace(trading("ping_post", low, high), "buyers:\n  - id: buy_1\n", `buyers:
  - {id: buy_3, endpoint: "`+silent.URL+`", ping_rate: 1000000}
  - id: buy_1
`, 1) + "      - {buyer: buy_3, price: 10}\n"
	config = strings.Replace(config, "  - id: buy_2\n", `  - id: buy_2
    oauth_clients: [{client_id: blue, client_secret: "canary-secret-of-blue", scopes: [webhook]}]
`, 1)
	x := start(t, newPlace(t, traced(config, c, "1")))
	token := x.bidFor("auto", "theirs")
	sale := x.postAt("theirs", token, 1)
	if sale.status != 201 {
		t.Fatal(sale.body)
	}
	x.ask(`{"flo_campaign_id":"cmp","flo_supplier_id":"sup_acme","state":"CA"}`)
	x.sold(lead(2))
	id := sale.leadID()
	x.seller("/v1/ping", "other", `{"auction_id":"other","vertical":"boats","state":"CA","tcpa_consent":true}`)
	request(t, "POST", "http://"+x.PublicAddress()+"/v1/leads/"+id+"/status", `{"status":"contacted"}`,
		"Authorization", "Bearer "+x.token("blue", "canary-secret-of-blue"), "Content-Type", typeIsOwn, "Idempotency-Key", "s")
	roots, trees := x.drawn(c)
	compareTraces(t, "traces_auctions", []string{"a ping", "its post", "a question", "an ingest", "a ping for no campaign", "a report"}, trees)
	if roots[0].Attributes["pingpost.auction_id"] == "" || roots[0].Attributes["pingpost.auction_id"] != roots[1].Attributes["pingpost.auction_id"] {
		t.Errorf("auction %q, sold as %q", roots[0].Attributes["pingpost.auction_id"], roots[1].Attributes["pingpost.auction_id"])
	}
	if roots[1].Attributes["pingpost.lead_id"] != id || roots[5].Attributes["pingpost.lead_id"] != id {
		t.Errorf("lead %s is %q and %q", id, roots[1].Attributes["pingpost.lead_id"], roots[5].Attributes["pingpost.lead_id"])
	}
	if parent := silent.got()[0].header.Get("Traceparent"); !isCall(c.Spans(), parent) {
		t.Errorf("a buyer was asked with traceparent %q", parent)
	}
	secretive(t, c)
}

// secretive sees that nothing of a lead and no secret is in anything that was sent, nor what
// a supplier has named things.
func secretive(t *testing.T, c *tracetest.Collector) {
	t.Helper()
	if len(c.Bodies()) == 0 {
		t.Error("nothing was exported")
	}
	for _, body := range c.Bodies() {
		for _, word := range append([]string{"94105", "theirs"}, canaries...) {
			if strings.Contains(string(body), word) {
				t.Errorf("an export carries %q: %q", word, body)
			}
		}
	}
	for _, span := range c.Spans() {
		for key, value := range span.Attributes {
			if strings.Contains(value, "Ann") || strings.Contains(value, "CA") {
				t.Errorf("%s says %s=%q", span.Name, key, value)
			}
		}
	}
}

// TestTracesKeepSecrets: of all that a lead, a buyer and a caller say there is nothing in what
// is exported, wherever they say it.
func TestTracesKeepSecrets(t *testing.T) {
	c := tracetest.Listen(t)
	blue := newTaker(t, says(422, `{"error":"canary-code","message":"canary `+lastName+`","request_id":"canary-request"}`))
	red := newTaker(t, says(201, `{"lead_id":"canary-of-theirs"}`))
	x := start(t, newPlace(t, traced(delivered(blue, red), c, "1")))
	x.sold(lead(1, "source", `"canary-source"`, "canary_member", `"canary-value"`, "zip", `"94105"`),
		"Idempotency-Key", "canary-key", "Tracestate", "canary=state", "X-Canary", "canary-header",
		"Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	x.ingest(lead(2, "phone", `"canary"`, "flo_campaign_id", `"canary-campaign"`))
	x.ingest(`{"canary":`)
	roots, trees := x.drawn(c)
	if len(trees) != 3 || !strings.Contains(trees[0], "refused") || len(red.got()) != 1 {
		t.Errorf("%d posts; %s", len(red.got()), strings.Join(trees, "\n"))
	}
	if r := roots[0]; r.Trace != "0af7651916cd43dd8448eb211c80319c" || r.Parent != "b7ad6b7169203331" || !r.Remote {
		t.Errorf("the caller's trace does not go on: %+v", r)
	}
	secretive(t, c)
}
