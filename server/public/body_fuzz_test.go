package public

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/server/httperror"
)

// jsonEndpoint is a path that accepts JSON, with a valid object for it.
type jsonEndpoint struct {
	path, base string
	lines      func(x *fuzzedExchange) []string
	admin      bool
	limit      int
	checkBuyer func(t *testing.T, x *fuzzedExchange, sent map[string]any) // compares the request to the buyer with the sent object
}

func apiKeyHeaders(x *fuzzedExchange) []string { return []string{"x-api-key", "key-of-acme"} }

func sellerHeaders(x *fuzzedExchange) []string {
	return []string{"Authorization", "Bearer " + x.seller, "Idempotency-Key", fmt.Sprint("k", x.requestCount)}
}

func buyerHeaders(x *fuzzedExchange) []string {
	return []string{"Authorization", "Bearer " + x.report, "Idempotency-Key", fmt.Sprint("k", x.requestCount)}
}

const (
	personMembers = `"first_name":"Ann","last_name":"Lee","phone":"4155550123","email":"ann@example.com","state":"CA"`
	someLeadID    = "lead_00000000000000000000000000"
)

var jsonEndpoints = []jsonEndpoint{
	{path: "/api/v1/ingest", lines: apiKeyHeaders, base: `{"flo_campaign_id":"cmp_now","flo_supplier_id":"sup_acme",` + personMembers + `}`, checkBuyer: checkPostedLead},
	{path: "/v1/ping", lines: sellerHeaders, base: `{"auction_id":"a","vertical":"auto","state":"CA","tcpa_consent":true}`, checkBuyer: checkSentPing},
	{path: "/v1/post", lines: sellerHeaders, base: `{"auction_id":"a","bid_token":"b","lead":{"lead_uuid":"u",` + personMembers + `}}`},
	{path: "/api/v1/ping", lines: apiKeyHeaders, base: `{"flo_campaign_id":"cmp_auto","flo_supplier_id":"sup_acme","state":"CA"}`, checkBuyer: checkSentPing},
	{path: "/v1/leads/" + someLeadID + "/status", lines: buyerHeaders, base: `{"status":"sold"}`},
	{path: "/v1/leads/status", lines: buyerHeaders, base: `{"changes":[{"lead_id":"` + someLeadID + `","status":"sold"}]}`, limit: 512 << 10},
	{path: "/v1/dev/seed", lines: sellerHeaders, base: `{"count":100,"vertical":"auto","state":"CA"}`},
	{path: "/admin/v1/buyers/buy_blue/funds", admin: true, base: `{"amount":1}`},
	{path: "/admin/v1/returns/" + someLeadID, admin: true, base: `{"approve":true}`},
	{path: "/admin/v1/secrets/none", admin: true, base: `{"value":"x"}`},
	{path: "/admin/v1/suppliers/sup_acme/clients/c/secrets", admin: true, base: `{"scopes":["ping"]}`},
	{path: "/admin/v1/buyers/buy_blue/tokens", admin: true, base: `{"scopes":["webhook"]}`},
}

// withBaseMembers returns the endpoint's valid object, with a new auction id, followed by
// the members of body.
func (w *jsonEndpoint) withBaseMembers(x *fuzzedExchange, body []byte) []byte {
	inner, ok := bytes.CutPrefix(body, []byte("{"))
	if !ok || bytes.HasPrefix(bytes.TrimLeft(inner, " \t\r\n"), []byte("}")) {
		return body
	}
	base := strings.Replace(w.base, `"auction_id":"a"`, fmt.Sprintf(`"auction_id":"a%d"`, x.requestCount), 1)
	return slices.Concat([]byte(base[:len(base)-1]), []byte(","), inner)
}

func (w *jsonEndpoint) send(x *fuzzedExchange, body []byte) *fasthttp.RequestCtx {
	switch {
	case w.admin && strings.Contains(w.path, "/secrets/"):
		return x.requestAsOperator("PUT", w.path, body)
	case w.admin:
		return x.requestAsOperator("POST", w.path, body)
	}
	return x.request(w.path, body, append(w.lines(x), "Content-Type", httperror.TypeJSON)...)
}

// FuzzBody compares all paths that accept JSON with encoding/json and the strictness of
// the contract. Exactly the malformed bodies get malformed_json, all answers follow the
// contract, and buyers get the values that encoding/json reads from accepted bodies.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		`{}`, `{"extra":1}`, `{"extra":{"a":[1,2.50,-0,1e400,"\u00e9\ud83d\ude00",null,true]},"nick":" x "}`, `{"rooms":1e1}`, `{"extra":"\ud83d"}`, `{"a":1,"\u0061":2}`,
		`{"state":"NV"}`, `{"x":1}y`, `[]`, `null`, `5`, `"x"`, ``, ` {} `, "\xef\xbb\xbf{}", "{\"a\":\"\xff\"}", `{"a":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `}`,
		`{"a":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`, `{"a":` + strings.Repeat("1", 129) + `}`, `{"A":1,"a":1}`, `{"amount":-5,"note":"n"}`, `{"scopes":null}`,
		`{"flo_ping_id":"ping_x","flo_buyer_id":"buy_blue"}`, `{"lead":{"address":{"zip":"94105"}}}`, `{"email":"x"}`, `{"deep":{"Phone":"1"}}`, `{"room_count":3,"tcpa":{"a":1}}`, `{"seed":9223372036854775808}`,
	} {
		for i := range jsonEndpoints {
			f.Add(uint8(i), []byte(body), true)
			f.Add(uint8(i), []byte(body), false)
		}
	}
	var x fuzzedExchange
	f.Cleanup(x.close)
	f.Fuzz(func(t *testing.T, which uint8, body []byte, splice bool) {
		w := &jsonEndpoints[int(which)%len(jsonEndpoints)]
		if splice {
			body = w.withBaseMembers(&x, body)
		}
		before := string(body)
		ctx := w.send(x.prepareRequest(t), body)
		if string(body) != before {
			t.Fatal("the body was changed")
		}
		checkBodyAnswer(t, &x, w, body, ctx)
	})
}

func checkBodyAnswer(t *testing.T, x *fuzzedExchange, w *jsonEndpoint, body []byte, ctx *fasthttp.RequestCtx) {
	status, answer := ctx.Response.StatusCode(), responseBody(ctx)
	sent, why := parseStrict(body, w.admin)
	var answered map[string]any
	if err := json.Unmarshal(answer, &answered); err != nil && status != 204 {
		t.Fatalf("%s answers %d %q: %v", w.path, status, answer, err)
	}
	code, _ := answered["error"].(string)
	if status >= 400 && (answered["request_id"] != string(ctx.Response.Header.Peek(httperror.HeaderRequestID)) || answered["request_id"] == nil || code == "" || answered["message"] == "") {
		t.Fatalf("%s answers %d %s, X-Request-Id %s", w.path, status, answer, ctx.Response.Header.Peek(httperror.HeaderRequestID))
	}
	empty := w.admin && len(body) == 0 && strings.Contains(w.base, "scopes") // all scopes
	switch limit := max(w.limit, 64<<10); {
	case len(body) > limit:
		if status != 413 {
			t.Fatalf("%s: %d bytes: %d", w.path, len(body), status)
		}
	case (status == 400) != (why != "" && !empty), status == 400 && code != "malformed_json", status >= 500:
		t.Fatalf("%s answers %q with %d %s; error of the model: %q", w.path, body, status, answer, why)
	case status == 200 || status == 201:
		if w.checkBuyer != nil {
			w.checkBuyer(t, x, sent)
		}
	}
}

// knownMembers have another meaning for the exchange or its buyers, or a mapping knows
// them.
var knownMembers = strings.Fields(`flo_campaign_id flo_supplier_id flo_ping_id flo_buyer_id lead_uuid address tcpa auction_id vertical sub_vertical zip3 expires_at
	room_count rooms nick first_name last_name phone email state source tcpa_consent consent_cert_url consent_text consent_timestamp ip_address line1 city zip ai_quality_score`)

func checkPostedLead(t *testing.T, x *fuzzedExchange, sent map[string]any) {
	_, post := x.buyer.takeBodies()
	if sent["flo_ping_id"] != nil || post == nil {
		return
	}
	var outer struct{ Lead json.RawMessage }
	err := json.Unmarshal(post, &outer)
	lead, why := parseStrict(outer.Lead, false) // the lead may be as deep as an ingest, although the post is around it
	if err != nil || why != "" || lead["first_name"] != sent["first_name"] {
		t.Fatalf("sent %v, but the buyer got %s: %s", sent, post, why)
	}
	checkUnknownMembers(t, sent, lead)
}

func checkSentPing(t *testing.T, x *fuzzedExchange, sent map[string]any) {
	ping, _ := x.buyer.takeBodies()
	if ping == nil { // no buyer was pinged
		return
	}
	got, why := parseStrict(ping, false)
	if why != "" || got["state"] != sent["state"] {
		t.Fatalf("sent %v, but the buyer got %s: %s", sent, ping, why)
	}
	checkUnknownMembers(t, sent, got)
}

// checkUnknownMembers checks that members without a mapping arrive unchanged, and that
// empty ones do not arrive.
func checkUnknownMembers(t *testing.T, sent, got map[string]any) {
	for name, value := range sent {
		text, isText := value.(string)
		arrived, found := got[name]
		switch {
		case slices.Contains(knownMembers, name):
		case value == nil, isText && strings.TrimFunc(text, isInvisible) == "":
			if found {
				t.Fatalf("%q is empty, but the buyer got %v", name, arrived)
			}
		case !found || !reflect.DeepEqual(arrived, value):
			t.Fatalf("sent %q: %#v, but the buyer got %#v", name, value, arrived)
		}
	}
}
