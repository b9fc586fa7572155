package exchange

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/exchange/golden"
	"pingpost/internal/trace/tracetest"
)

// tracesConfig sends traces to a collector.
func tracesConfig(config string, c *tracetest.Collector, sample string) string {
	return config + fmt.Sprintf("traces: {endpoint: %q, sample: %s, headers: [{name: authorization, value: \"${BLUE_TOKEN}\"}]}\n", c.URL, sample)
}

// treeAttributes are the attributes in the compared trees. They are the same in each run.
var treeAttributes = []string{
	"http.response.status_code", "error.type", "pingpost.caller_id", "pingpost.campaign_id", "pingpost.outcome", "pingpost.reason",
	"pingpost.buyer_id", "pingpost.fault", "pingpost.replayed", "pingpost.test",
}

// stopAndReadTraces stops the exchange and returns the trees of all requests in order. Before, it waits
// until the traces of so many requests are exported, because a stop does that for two seconds only.
func (r *testExchange) stopAndReadTraces(c *tracetest.Collector, requests int) (roots []tracetest.Span, trees []string) {
	r.t.Helper()
	eventually(r.t, "the traces are exported", func() bool { return r.tracer.ExportedTraces() >= uint64(requests) })
	r.stop()
	spans := c.Spans()
	roots = tracetest.ServerSpansByStart(spans)
	seen := 0
	for _, root := range roots {
		for _, defect := range tracetest.Defects(spans, root) {
			r.t.Error(defect)
		}
		tree := tracetest.Tree(spans, root, treeAttributes...)
		seen += strings.Count(tree, "\n") + 1
		trees = append(trees, tree)
	}
	if seen != len(spans) {
		r.t.Errorf("%d spans, but %d below requests", len(spans), seen)
	}
	return roots, trees
}

// compareTraces compares the trees with testdata/NAME.golden, each under its request's description.
func compareTraces(t *testing.T, name string, requests, trees []string) {
	t.Helper()
	if len(trees) != len(requests) {
		t.Fatalf("got %d trees:\n%s", len(trees), strings.Join(trees, "\n"))
	}
	var text strings.Builder
	for i, tree := range trees {
		fmt.Fprintf(&text, "# %s\n%s\n", requests[i], tree)
	}
	golden.CompareWithFile(t, name, text.String())
}

func TestTracesOfPosts(t *testing.T) {
	t.Parallel()
	c := tracetest.Listen(t)
	no, broken := reply(422, `{"error":"post_rejected","message":"no","request_id":"r"}`), reply(500, "")
	yes := reply(201, `{"lead_id":"x"}`)
	blue, red := newFakeBuyer(t, no, broken, yes, no), newFakeBuyer(t, yes, no)
	x := start(t, newTestDir(t, tracesConfig(deliveryConfig(blue, red), c, "1")))
	var requests []string
	var answers []*answer
	for _, step := range []struct {
		name string
		send func() *answer
	}{
		{"a refusal, and the next buyer", func() *answer { return x.mustSell(leadBody(1), "Idempotency-Key", "k") }},
		{"the same again", func() *answer { return x.ingest(leadBody(1), "Idempotency-Key", "k") }},
		{"doubt, and the same buyer again", func() *answer { return x.mustSell(leadBody(2)) }},
		{"nobody", func() *answer { return x.ingest(leadBody(3)) }},
		{"no such campaign", func() *answer { return x.ingest(leadBody(4, "flo_campaign_id", `"nobody"`)) }},
		{"no JSON", func() *answer { return x.ingest(leadBody(4) + "}") }},
	} {
		requests, answers = append(requests, step.name), append(answers, step.send())
	}
	request(t, "POST", "http://"+x.PublicAddress()+"/api/v1/ingest", leadBody(5), "X-Api-Key", "no-such-key", "Content-Type", jsonType).mustFail(t, 401, "unauthorized")
	request(t, "GET", "http://"+x.PublicAddress()+"/api/v1/leads/"+answers[0].leadID(), "", "X-Api-Key", acmeKey)
	roots, trees := x.stopAndReadTraces(c, len(requests))
	compareTraces(t, "traces_posts", requests, trees)
	if attributes := roots[0].Attributes; attributes["pingpost.request_id"] != answers[0].requestID() || attributes["pingpost.lead_id"] != answers[0].leadID() || attributes["http.request.body.size"] != fmt.Sprint(len(leadBody(1))) {
		t.Errorf("attributes %v of the answer %s", attributes, answers[0].body)
	}
	if all := c.Resource(); all["service.name"] != "pingpost" || all["service.namespace"] != "production" {
		t.Errorf("unexpected resource attributes: %v", all)
	}
	if c.Headers()[0].Get("Authorization") != "Bearer "+blueToken && c.Headers()[0].Get("Authorization") != blueToken {
		t.Error("the collector got a wrong credential")
	}
	for i, post := range append(blue.received(), red.received()...) {
		if parent := post.header.Get("Traceparent"); !isCall(c.Spans(), parent) {
			t.Errorf("traceparent %[2]q of post %[1]d is not the span of a call", i, parent)
		}
	}
}

// isCall reports whether a traceparent is the span of a call to a buyer.
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
	t.Parallel()
	c := tracetest.Listen(t)
	low, high := startReferenceBuyer(t, "9"), startReferenceBuyer(t, "12.5")
	silent := newFakeBuyer(t, hang) // pings only; posts are accepted
	config := strings.Replace(referenceConfig("ping_post", low, high), "buyers:\n  - id: buy_1\n", `buyers:
  - {id: buy_3, endpoint: "`+silent.URL+`", ping_rate: 1000000}
  - id: buy_1
`, 1) + "      - {buyer: buy_3, price: 10}\n"
	config = strings.Replace(config, "  - id: buy_2\n", `  - id: buy_2
    oauth_clients: [{client_id: blue, client_secret: "canary-secret-of-blue", scopes: [webhook]}]
`, 1)
	x := start(t, newTestDir(t, tracesConfig(config, c, "1")))
	token := x.pingForBid("auto", "theirs")
	sale := x.postToBid("theirs", token, 1)
	if sale.status != 201 {
		t.Fatalf("unexpected answer to the post: %v", sale.body)
	}
	x.requestAvailability(`{"flo_campaign_id":"cmp","flo_supplier_id":"sup_acme","state":"CA"}`)
	x.mustSell(leadBody(2))
	id := sale.leadID()
	x.sellerRequest("/v1/ping", "other", `{"auction_id":"other","vertical":"boats","state":"CA","tcpa_consent":true}`)
	request(t, "POST", "http://"+x.PublicAddress()+"/v1/leads/"+id+"/status", `{"status":"contacted"}`,
		"Authorization", "Bearer "+x.mustToken("blue", "canary-secret-of-blue"), "Content-Type", jsonType, "Idempotency-Key", "s")
	roots, trees := x.stopAndReadTraces(c, 6)
	compareTraces(t, "traces_auctions", []string{"a ping", "its post", "a question", "an ingest", "a ping for no campaign", "a report"}, trees)
	if roots[0].Attributes["pingpost.auction_id"] == "" || roots[0].Attributes["pingpost.auction_id"] != roots[1].Attributes["pingpost.auction_id"] {
		t.Errorf("auction %q, sold as %q", roots[0].Attributes["pingpost.auction_id"], roots[1].Attributes["pingpost.auction_id"])
	}
	if roots[1].Attributes["pingpost.lead_id"] != id || roots[5].Attributes["pingpost.lead_id"] != id {
		t.Errorf("lead %s is %q and %q", id, roots[1].Attributes["pingpost.lead_id"], roots[5].Attributes["pingpost.lead_id"])
	}
	if parent := silent.received()[0].header.Get("Traceparent"); !isCall(c.Spans(), parent) {
		t.Errorf("traceparent %q of a ping is not the span of a call", parent)
	}
	checkTracesKeepSecrets(t, c)
}

// checkTracesKeepSecrets checks that exports contain no lead data, no secret and no supplier's id.
func checkTracesKeepSecrets(t *testing.T, c *tracetest.Collector) {
	t.Helper()
	if len(c.Bodies()) == 0 {
		t.Error("no export")
	}
	for _, body := range c.Bodies() {
		for _, word := range append([]string{"94105", "theirs"}, canaries...) {
			if strings.Contains(string(body), word) {
				t.Errorf("export contains %q: %q", word, body)
			}
		}
	}
	for _, span := range c.Spans() {
		for key, value := range span.Attributes {
			if strings.Contains(value, "Ann") || strings.Contains(value, "CA") {
				t.Errorf("span %s has %s=%q", span.Name, key, value)
			}
		}
	}
}

// TestTracesKeepSecrets: no text of a lead, a buyer or a caller is exported.
func TestTracesKeepSecrets(t *testing.T) {
	t.Parallel()
	c := tracetest.Listen(t)
	blue := newFakeBuyer(t, reply(422, `{"error":"canary-code","message":"canary `+lastName+`","request_id":"canary-request"}`))
	red := newFakeBuyer(t, reply(201, `{"lead_id":"canary-of-theirs"}`))
	x := start(t, newTestDir(t, tracesConfig(deliveryConfig(blue, red), c, "1")))
	x.mustSell(leadBody(1, "source", `"canary-source"`, "canary_member", `"canary-value"`, "zip", `"94105"`),
		"Idempotency-Key", "canary-key", "Tracestate", "canary=state", "X-Canary", "canary-header",
		"Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	x.ingest(leadBody(2, "phone", `"canary"`, "flo_campaign_id", `"canary-campaign"`))
	x.ingest(`{"canary":`)
	roots, trees := x.stopAndReadTraces(c, 3)
	if len(trees) != 3 || !strings.Contains(trees[0], "refused") || len(red.received()) != 1 {
		t.Errorf("got %d posts, trees %s", len(red.received()), strings.Join(trees, "\n"))
	}
	if r := roots[0]; r.Trace != "0af7651916cd43dd8448eb211c80319c" || r.Parent != "b7ad6b7169203331" || !r.Remote {
		t.Errorf("root span does not continue the caller's trace: %+v", r)
	}
	checkTracesKeepSecrets(t, c)
}
