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

// way is a path that takes JSON, and an object that is taken there.
type way struct {
	path, base string
	lines      func(x *fuzzed) []string
	operators  bool
	limit      int
	told       func(t *testing.T, x *fuzzed, sent map[string]any) // compares what the buyer got
}

func withKey(x *fuzzed) []string { return []string{"x-api-key", "key-of-acme"} }

func asSeller(x *fuzzed) []string {
	return []string{"Authorization", "Bearer " + x.seller, "Idempotency-Key", fmt.Sprint("k", x.asked)}
}

func asBuyer(x *fuzzed) []string {
	return []string{"Authorization", "Bearer " + x.report, "Idempotency-Key", fmt.Sprint("k", x.asked)}
}

const (
	personNow  = `"first_name":"Ann","last_name":"Lee","phone":"4155550123","email":"ann@example.com","state":"CA"`
	someLeadID = "lead_00000000000000000000000000"
)

var ways = []way{
	{path: "/api/v1/ingest", lines: withKey, base: `{"flo_campaign_id":"cmp_now","flo_supplier_id":"sup_acme",` + personNow + `}`, told: toldInPost},
	{path: "/v1/ping", lines: asSeller, base: `{"auction_id":"a","vertical":"auto","state":"CA","tcpa_consent":true}`, told: toldInPing},
	{path: "/v1/post", lines: asSeller, base: `{"auction_id":"a","bid_token":"b","lead":{"lead_uuid":"u",` + personNow + `}}`},
	{path: "/api/v1/ping", lines: withKey, base: `{"flo_campaign_id":"cmp_auto","flo_supplier_id":"sup_acme","state":"CA"}`, told: toldInPing},
	{path: "/v1/leads/" + someLeadID + "/status", lines: asBuyer, base: `{"status":"sold"}`},
	{path: "/v1/leads/status", lines: asBuyer, base: `{"changes":[{"lead_id":"` + someLeadID + `","status":"sold"}]}`, limit: 512 << 10},
	{path: "/v1/dev/seed", lines: asSeller, base: `{"count":100,"vertical":"auto","state":"CA"}`},
	{path: "/admin/v1/buyers/buy_blue/funds", operators: true, base: `{"amount":1}`},
	{path: "/admin/v1/returns/" + someLeadID, operators: true, base: `{"approve":true}`},
	{path: "/admin/v1/secrets/none", operators: true, base: `{"value":"x"}`},
	{path: "/admin/v1/suppliers/sup_acme/clients/c/secrets", operators: true, base: `{"scopes":["ping"]}`},
	{path: "/admin/v1/buyers/buy_blue/tokens", operators: true, base: `{"scopes":["webhook"]}`},
}

// spliced is the way's own object, of an auction of its own, with the members of
// another one behind its own.
func (w *way) spliced(x *fuzzed, body []byte) []byte {
	inner, ok := bytes.CutPrefix(body, []byte("{"))
	if !ok || bytes.HasPrefix(bytes.TrimLeft(inner, " \t\r\n"), []byte("}")) {
		return body
	}
	base := strings.Replace(w.base, `"auction_id":"a"`, fmt.Sprintf(`"auction_id":"a%d"`, x.asked), 1)
	return slices.Concat([]byte(base[:len(base)-1]), []byte(","), inner)
}

func (w *way) send(x *fuzzed, body []byte) *fasthttp.RequestCtx {
	switch {
	case w.operators && strings.Contains(w.path, "/secrets/"):
		return x.operate("PUT", w.path, body)
	case w.operators:
		return x.operate("POST", w.path, body)
	}
	return x.request(w.path, body, append(w.lines(x), "Content-Type", httperror.TypeJSON)...)
}

// FuzzBody holds every path that takes JSON against encoding/json with the contract's
// strictness: what is refused as malformed is exactly what is, whatever comes is
// answered as the contract answers, and of what is taken the buyer gets the values
// that encoding/json reads.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		`{}`, `{"extra":1}`, `{"extra":{"a":[1,2.50,-0,1e400,"\u00e9\ud83d\ude00",null,true]},"nick":" x "}`, `{"rooms":1e1}`, `{"extra":"\ud83d"}`, `{"a":1,"\u0061":2}`,
		`{"state":"NV"}`, `{"x":1}y`, `[]`, `null`, `5`, `"x"`, ``, ` {} `, "\xef\xbb\xbf{}", "{\"a\":\"\xff\"}", `{"a":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `}`,
		`{"a":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`, `{"a":` + strings.Repeat("1", 129) + `}`, `{"A":1,"a":1}`, `{"amount":-5,"note":"n"}`, `{"scopes":null}`,
		`{"flo_ping_id":"ping_x","flo_buyer_id":"buy_blue"}`, `{"lead":{"address":{"zip":"94105"}}}`, `{"email":"x"}`, `{"deep":{"Phone":"1"}}`, `{"room_count":3,"tcpa":{"a":1}}`, `{"seed":9223372036854775808}`,
	} {
		for i := range ways {
			f.Add(uint8(i), []byte(body), true)
			f.Add(uint8(i), []byte(body), false)
		}
	}
	var x fuzzed
	f.Cleanup(x.close)
	f.Fuzz(func(t *testing.T, which uint8, body []byte, splice bool) {
		w := &ways[int(which)%len(ways)]
		if splice {
			body = w.spliced(&x, body)
		}
		before := string(body)
		ctx := w.send(x.fresh(t), body)
		if string(body) != before {
			t.Fatal("the body was changed")
		}
		judgeBody(t, &x, w, body, ctx)
	})
}

func judgeBody(t *testing.T, x *fuzzed, w *way, body []byte, ctx *fasthttp.RequestCtx) {
	status, answer := ctx.Response.StatusCode(), answerOf(ctx)
	sent, why := strictly(body, w.operators)
	var said map[string]any
	if err := json.Unmarshal(answer, &said); err != nil && status != 204 {
		t.Fatalf("%s answers %d %q: %v", w.path, status, answer, err)
	}
	code, _ := said["error"].(string)
	if status >= 400 && (said["request_id"] != string(ctx.Response.Header.Peek(httperror.HeaderRequestID)) || said["request_id"] == nil || code == "" || said["message"] == "") {
		t.Fatalf("%s answers %d %s, X-Request-Id %s", w.path, status, answer, ctx.Response.Header.Peek(httperror.HeaderRequestID))
	}
	empty := w.operators && len(body) == 0 && strings.Contains(w.base, "scopes") // all scopes
	switch limit := max(w.limit, 64<<10); {
	case len(body) > limit:
		if status != 413 {
			t.Fatalf("%s: %d bytes: %d", w.path, len(body), status)
		}
	case (status == 400) != (why != "" && !empty), status == 400 && code != "malformed_json", status >= 500:
		t.Fatalf("%s takes %q as %d %s; the model: %q", w.path, body, status, answer, why)
	case status == 200 || status == 201:
		if w.told != nil {
			w.told(t, x, sent)
		}
	}
}

// framed are members that say something else to the exchange or to its buyers, or
// that a mapping knows.
var framed = strings.Fields(`flo_campaign_id flo_supplier_id flo_ping_id flo_buyer_id lead_uuid address tcpa auction_id vertical sub_vertical zip3 expires_at
	room_count rooms nick first_name last_name phone email state source tcpa_consent consent_cert_url consent_text consent_timestamp ip_address line1 city zip ai_quality_score`)

func toldInPost(t *testing.T, x *fuzzed, sent map[string]any) {
	_, post := x.buyer.heardOf()
	if sent["flo_ping_id"] != nil || post == nil {
		return
	}
	var outer struct{ Lead json.RawMessage }
	err := json.Unmarshal(post, &outer)
	lead, why := strictly(outer.Lead, false) // as deep as an ingest may be, inside of the post
	if err != nil || why != "" || lead["first_name"] != sent["first_name"] {
		t.Fatalf("of %v the buyer gets %s: %s", sent, post, why)
	}
	kept(t, sent, lead)
}

func toldInPing(t *testing.T, x *fuzzed, sent map[string]any) {
	ping, _ := x.buyer.heardOf()
	if ping == nil { // nobody was asked
		return
	}
	got, why := strictly(ping, false)
	if why != "" || got["state"] != sent["state"] {
		t.Fatalf("of %v the buyer gets %s: %s", sent, ping, why)
	}
	kept(t, sent, got)
}

// kept sees that what the mapping does not know arrives as it came, and that what
// says nothing does not.
func kept(t *testing.T, sent, got map[string]any) {
	for name, value := range sent {
		text, isText := value.(string)
		arrived, there := got[name]
		switch {
		case slices.Contains(framed, name):
		case value == nil, isText && strings.TrimFunc(text, unseen) == "":
			if there {
				t.Fatalf("%q says nothing, and the buyer gets %v", name, arrived)
			}
		case !there || !reflect.DeepEqual(arrived, value):
			t.Fatalf("%q is %#v, the buyer gets %#v", name, value, arrived)
		}
	}
}
