package exchange

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// hooked is recorded, with a webhook of acme's that nobody listens at.
var hooked = strings.Replace(recorded, `"${ACME_KEY}", ingest_rate: 1000000}`,
	`"${ACME_KEY}", ingest_rate: 1000000, webhook: {url: "http://127.0.0.1:9/hooks", secret: "whsec_Y2FuYXJ5LXNlY3JldC1vZi1hY21l"}}`, 1)

// shownWebhook is what the operator is shown of one.
type shownWebhook struct {
	Supplier     string  `json:"supplier_id"`
	URL          *string `json:"url"`
	Pending      int     `json:"pending"`
	Dead         int     `json:"dead"`
	Dropped      int     `json:"dropped"`
	FailingSince *string `json:"failing_since"`
	Off          bool    `json:"off"`
	Secrets      []struct {
		Hint     string `json:"hint"`
		Previous bool   `json:"previous"`
	} `json:"secrets"`
}

func (r *running) webhook(supplier string) shownWebhook {
	r.t.Helper()
	return decode[shownWebhook](r.t, r.must(200, "GET", "/admin/v1/webhooks/"+supplier, ""))
}

// letters is a page of dead letters.
type letters struct {
	Total int  `json:"total"`
	Next  *int `json:"next"`
	Dead  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Lead     string `json:"lead_id"`
		Attempts int    `json:"attempts"`
		Created  string `json:"created_at"`
		Died     string `json:"died_at"`
	} `json:"dead"`
}

func (r *running) letters(query string) letters {
	r.t.Helper()
	return decode[letters](r.t, r.must(200, "GET", "/admin/v1/webhooks/sup_acme/dead"+query, ""))
}

// TestWebhooksAreListed: those that are configured, and how it goes with each.
func TestWebhooksAreListed(t *testing.T) {
	x := start(t, newPlace(t, hooked))
	a := x.must(200, "GET", "/admin/v1/webhooks", "")
	want := `{"webhooks":[{"supplier_id":"sup_acme","url":"http://127.0.0.1:9/hooks","pending":0,"dead":0,"dropped":0,"failing_since":null,"off":false,` +
		`"secrets":[{"hint":"whsec_Y2Fu","previous":false}]}]}` + "\n"
	if a.body != want {
		t.Errorf("%s, want %s", a.body, want)
	}
	if w := x.webhook("sup_other"); w.URL != nil || len(w.Secrets) != 0 {
		t.Errorf("who has none: %+v", w)
	}
	x.must(404, "GET", "/admin/v1/webhooks/sup_none", "").mustFail(t, 404, "not_found")
	if a := start(t, newPlace(t, recorded)).must(200, "GET", "/admin/v1/webhooks", ""); a.body != `{"webhooks":[]}`+"\n" {
		t.Error(a.body)
	}
}

// TestSwitchingWhatIsNotThere: a supplier without a webhook has none to switch; of one
// that the configuration took away, what is left can be.
func TestSwitchingWhatIsNotThere(t *testing.T) {
	x := start(t, newPlace(t, hooked))
	for _, to := range []string{"off", "on"} {
		x.must(404, "POST", "/admin/v1/webhooks/sup_other/"+to, "").mustFail(t, 404, "not_found")
		x.must(404, "POST", "/admin/v1/webhooks/sup_none/"+to, "")
	}
	x.must(204, "POST", "/admin/v1/webhooks/sup_acme/off", "")
	x.reloadWith(recorded)
	x.must(204, "POST", "/admin/v1/webhooks/sup_acme/on", "")
	x.must(404, "POST", "/admin/v1/webhooks/sup_acme/on", "")
}

// TestDeadLetters: they are seen page by page, resent one by one or all at once,
// and dropped.
func TestDeadLetters(t *testing.T) {
	x := start(t, newPlace(t, hooked))
	x.must(204, "POST", "/admin/v1/webhooks/sup_acme/off", "")
	for n := range 5 {
		x.sold(lead(n))
	}
	x.ingest(lead(9, "state", `"NY"`))
	if w := x.webhook("sup_acme"); !w.Off || w.Dead != 6 || w.Pending != 0 {
		t.Errorf("while it is off: %+v", w)
	}
	x.measures(`pingpost_webhooks_off{supplier="sup_acme"} 1`)
	var all []string
	seen := map[string]bool{}
	for after := 0; ; {
		page := x.letters(fmt.Sprintf("?after=%d&limit=4", after))
		for _, l := range page.Dead {
			if !strings.HasPrefix(l.ID, "evt_") || !strings.HasPrefix(l.Lead, "lead_") || l.Attempts != 0 || l.Created == "" || l.Died == "" || seen[l.ID] {
				t.Errorf("%+v", l)
			}
			seen[l.ID], all = true, append(all, l.Type+" "+l.ID)
		}
		if page.Total != 6 || page.Next == nil {
			break
		}
		after = *page.Next
	}
	if len(all) != 6 || !strings.HasPrefix(all[0], "lead.posted ") || !strings.HasPrefix(all[5], "lead.unmatched ") {
		t.Fatalf("%q", all)
	}
	_, first, _ := strings.Cut(all[0], " ")
	_, second, _ := strings.Cut(all[1], " ")
	at := "/admin/v1/webhooks/sup_acme/dead/"
	x.must(409, "POST", at+first+"/resend", "").mustFail(t, 409, "invalid_transition")
	x.must(409, "POST", "/admin/v1/webhooks/sup_acme/resend", "").mustFail(t, 409, "invalid_transition")
	x.must(204, "DELETE", at+second, "")
	x.must(404, "DELETE", at+second, "").mustFail(t, 404, "not_found")
	x.must(404, "DELETE", at+"nonsense", "").mustFail(t, 404, "not_found")
	x.must(404, "DELETE", "/admin/v1/webhooks/sup_other/dead/"+first, "").mustFail(t, 404, "not_found")
	x = x.again()
	x.must(204, "POST", "/admin/v1/webhooks/sup_acme/on", "")
	x.must(204, "POST", at+first+"/resend", "")
	if w := x.webhook("sup_acme"); w.Off || w.Dead != 4 || w.Pending != 1 {
		t.Errorf("one resent, one dropped: %+v", w)
	}
	if a := x.must(200, "POST", "/admin/v1/webhooks/sup_acme/resend", ""); a.body != `{"resent":4}`+"\n" {
		t.Error(a.body)
	}
	if w := x.webhook("sup_acme"); w.Dead != 0 || w.Pending != 5 {
		t.Errorf("all resent: %+v", w)
	}
	for _, query := range []string{"?after=-1", "?limit=0", "?limit=1001", "?limit=all", "?after="} {
		x.must(422, "GET", "/admin/v1/webhooks/sup_acme/dead"+query, "").mustFail(t, 422, "invalid_payload")
	}
}

// TestWebhookSecrets: a new one is shown once, and the one before it goes on until
// it is ended, or pushed out by the next.
func TestWebhookSecrets(t *testing.T) {
	x := start(t, newPlace(t, hooked))
	live := func() (values []string) {
		for _, name := range []string{"supplier/sup_acme/webhook", "supplier/sup_acme/webhook/previous"} {
			if value, ok := x.RevealSecret(name); ok {
				values = append(values, value)
			}
		}
		return values
	}
	rotate := func(body string) string {
		a := x.must(201, "POST", "/admin/v1/webhooks/sup_acme/secret", body)
		made := decode[struct{ Secret, Hint string }](t, a)
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(made.Secret, "whsec_"))
		if err != nil || len(key) != 32 || made.Hint != made.Secret[:10] || a.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%v: %s", err, a.body)
		}
		return made.Secret
	}
	want := func(values ...string) {
		t.Helper()
		if got := live(); strings.Join(got, " ") != strings.Join(values, " ") {
			t.Errorf("%d secrets sign, want %d", len(got), len(values))
		}
		hints := x.webhook("sup_acme").Secrets
		for i, value := range values {
			if len(hints) != len(values) || !strings.HasPrefix(value, hints[i].Hint) || hints[i].Previous != (i == 1) {
				t.Errorf("hints %+v of %d secrets", hints, len(values))
			}
		}
	}
	const first = "whsec_Y2FuYXJ5LXNlY3JldC1vZi1hY21l"
	want(first)
	x.must(404, "DELETE", "/admin/v1/webhooks/sup_acme/secret/previous", "").mustFail(t, 404, "not_found")
	second := rotate("")
	want(second, first)
	x = x.again()
	want(second, first)
	if asked, hints := x.mustAsk("/admin/v1/webhooks/sup_acme/secret", ""); hints != second[:10]+" "+first[:10]+" " || *asked.Live[0].Previous || !*asked.Live[1].Previous {
		t.Errorf("%+v", asked)
	}
	x.mustAsk("/admin/v1/webhooks/sup_acme/secret", replacing("whsec_none"))
	want(second, first)
	third := rotate(replacing(first[:10]))
	want(third, second)
	fourth := rotate(replacing(third[:10])) // the receiver still checks the one before
	want(fourth, second)
	x.must(204, "PUT", "/admin/v1/secrets/supplier/sup_acme/webhook", `{"value":"`+third+`"}`)
	want(third, second)
	x.must(204, "DELETE", "/admin/v1/webhooks/sup_acme/secret/previous", "")
	want(third)
	x = x.again()
	want(third)
	x.mustReload()
	want(third)

	x.must(422, "PUT", "/admin/v1/secrets/supplier/sup_acme/webhook", `{"value":"hunter2"}`).mustFail(t, 422, "invalid_payload")
	x.must(204, "PUT", "/admin/v1/secrets/supplier/sup_acme/webhook", `{"value":"`+second+`"}`)
	want(second)
	x.must(409, "POST", "/admin/v1/webhooks/sup_other/secret", "").mustFail(t, 409, "invalid_transition")
	x.must(404, "POST", "/admin/v1/webhooks/sup_none/secret", "").mustFail(t, 404, "not_found")
}
