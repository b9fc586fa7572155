package exchange

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// webhookConfig is baseConfig with a webhook of sup_acme to a closed port.
var webhookConfig = strings.Replace(baseConfig, `"${ACME_KEY}", ingest_rate: 1000000}`,
	`"${ACME_KEY}", ingest_rate: 1000000, webhook: {url: "http://127.0.0.1:9/hooks", secret: "whsec_Y2FuYXJ5LXNlY3JldC1vZi1hY21l"}}`, 1)

// webhookStatus is the status of a webhook in the admin API.
type webhookStatus struct {
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

func (r *testExchange) webhookStatus(supplier string) webhookStatus {
	r.t.Helper()
	return decode[webhookStatus](r.t, r.mustAdmin(200, "GET", "/admin/v1/webhooks/"+supplier, ""))
}

// deadLetterPage is a page of dead letters.
type deadLetterPage struct {
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

func (r *testExchange) deadLetters(query string) deadLetterPage {
	r.t.Helper()
	return decode[deadLetterPage](r.t, r.mustAdmin(200, "GET", "/admin/v1/webhooks/sup_acme/dead"+query, ""))
}

// TestWebhookStatus: the list has the configured webhooks.
func TestWebhookStatus(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, webhookConfig))
	a := x.mustAdmin(200, "GET", "/admin/v1/webhooks", "")
	want := `{"webhooks":[{"supplier_id":"sup_acme","url":"http://127.0.0.1:9/hooks","pending":0,"dead":0,"dropped":0,"failing_since":null,"off":false,` +
		`"secrets":[{"hint":"whsec_Y2Fu","previous":false}]}]}` + "\n"
	if a.body != want {
		t.Errorf("%s, want %s", a.body, want)
	}
	if w := x.webhookStatus("sup_other"); w.URL != nil || len(w.Secrets) != 0 {
		t.Errorf("supplier without a webhook: %+v", w)
	}
	x.mustAdmin(404, "GET", "/admin/v1/webhooks/sup_none", "").mustFail(t, 404, "not_found")
	if a := start(t, newTestDir(t, baseConfig)).mustAdmin(200, "GET", "/admin/v1/webhooks", ""); a.body != `{"webhooks":[]}`+"\n" {
		t.Errorf("unexpected list without webhooks: %v", a.body)
	}
}

// TestSwitchMissingWebhook: a supplier without a webhook is a 404. A webhook that left the
// configuration can still be switched on.
func TestSwitchMissingWebhook(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, webhookConfig))
	for _, verb := range []string{"off", "on"} {
		x.mustAdmin(404, "POST", "/admin/v1/webhooks/sup_other/"+verb, "").mustFail(t, 404, "not_found")
		x.mustAdmin(404, "POST", "/admin/v1/webhooks/sup_none/"+verb, "")
	}
	x.mustAdmin(204, "POST", "/admin/v1/webhooks/sup_acme/off", "")
	x.reloadWith(baseConfig)
	x.mustAdmin(204, "POST", "/admin/v1/webhooks/sup_acme/on", "")
	x.mustAdmin(404, "POST", "/admin/v1/webhooks/sup_acme/on", "")
}

func TestDeadLettersListResendDrop(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, webhookConfig))
	x.mustAdmin(204, "POST", "/admin/v1/webhooks/sup_acme/off", "")
	for n := range 5 {
		x.mustSell(leadBody(n))
	}
	x.ingest(leadBody(9, "state", `"NY"`))
	if w := x.webhookStatus("sup_acme"); !w.Off || w.Dead != 6 || w.Pending != 0 {
		t.Errorf("webhooks off: %+v", w)
	}
	x.checkMetrics(`pingpost_webhooks_off{supplier="sup_acme"} 1`)
	var all []string
	seen := map[string]bool{}
	for after := 0; ; {
		page := x.deadLetters(fmt.Sprintf("?after=%d&limit=4", after))
		for _, l := range page.Dead {
			if !strings.HasPrefix(l.ID, "evt_") || !strings.HasPrefix(l.Lead, "lead_") || l.Attempts != 0 || l.Created == "" || l.Died == "" || seen[l.ID] {
				t.Errorf("incomplete or repeated dead letter: %+v", l)
			}
			seen[l.ID], all = true, append(all, l.Type+" "+l.ID)
		}
		if page.Total != 6 || page.Next == nil {
			break
		}
		after = *page.Next
	}
	if len(all) != 6 || !strings.HasPrefix(all[0], "lead.posted ") || !strings.HasPrefix(all[5], "lead.unmatched ") {
		t.Fatalf("unexpected dead letters: %q", all)
	}
	_, first, _ := strings.Cut(all[0], " ")
	_, second, _ := strings.Cut(all[1], " ")
	at := "/admin/v1/webhooks/sup_acme/dead/"
	x.mustAdmin(409, "POST", at+first+"/resend", "").mustFail(t, 409, "invalid_transition")
	x.mustAdmin(409, "POST", "/admin/v1/webhooks/sup_acme/resend", "").mustFail(t, 409, "invalid_transition")
	x.mustAdmin(204, "DELETE", at+second, "")
	x.mustAdmin(404, "DELETE", at+second, "").mustFail(t, 404, "not_found")
	x.mustAdmin(404, "DELETE", at+"nonsense", "").mustFail(t, 404, "not_found")
	x.mustAdmin(404, "DELETE", "/admin/v1/webhooks/sup_other/dead/"+first, "").mustFail(t, 404, "not_found")
	x = x.restart()
	x.mustAdmin(204, "POST", "/admin/v1/webhooks/sup_acme/on", "")
	x.mustAdmin(204, "POST", at+first+"/resend", "")
	if w := x.webhookStatus("sup_acme"); w.Off || w.Dead != 4 || w.Pending != 1 {
		t.Errorf("one resent and one dropped: %+v", w)
	}
	if a := x.mustAdmin(200, "POST", "/admin/v1/webhooks/sup_acme/resend", ""); a.body != `{"resent":4}`+"\n" {
		t.Errorf("unexpected answer to resend: %v", a.body)
	}
	if w := x.webhookStatus("sup_acme"); w.Dead != 0 || w.Pending != 5 {
		t.Errorf("all resent: %+v", w)
	}
	for _, query := range []string{"?after=-1", "?limit=0", "?limit=1001", "?limit=all", "?after="} {
		x.mustAdmin(422, "GET", "/admin/v1/webhooks/sup_acme/dead"+query, "").mustFail(t, 422, "invalid_payload")
	}
}

// TestWebhookSecretRotation: the answer has the new secret once. The previous one stays valid until
// it is ended or replaced.
func TestWebhookSecretRotation(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, webhookConfig))
	validSecrets := func() (values []string) {
		for _, name := range []string{"supplier/sup_acme/webhook", "supplier/sup_acme/webhook/previous"} {
			if value, ok := x.RevealSecret(name); ok {
				values = append(values, value)
			}
		}
		return values
	}
	rotate := func(body string) string {
		a := x.mustAdmin(201, "POST", "/admin/v1/webhooks/sup_acme/secret", body)
		created := decode[struct{ Secret, Hint string }](t, a)
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(created.Secret, "whsec_"))
		if err != nil || len(key) != 32 || created.Hint != created.Secret[:10] || a.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("incomplete answer with a new secret: %v: %s", err, a.body)
		}
		return created.Secret
	}
	want := func(values ...string) {
		t.Helper()
		if got := validSecrets(); strings.Join(got, " ") != strings.Join(values, " ") {
			t.Errorf("%d secrets are valid, want %d", len(got), len(values))
		}
		hints := x.webhookStatus("sup_acme").Secrets
		for i, value := range values {
			if len(hints) != len(values) || !strings.HasPrefix(value, hints[i].Hint) || hints[i].Previous != (i == 1) {
				t.Errorf("got hints %+v for %d secrets", hints, len(values))
			}
		}
	}
	const first = "whsec_Y2FuYXJ5LXNlY3JldC1vZi1hY21l"
	want(first)
	x.mustAdmin(404, "DELETE", "/admin/v1/webhooks/sup_acme/secret/previous", "").mustFail(t, 404, "not_found")
	x.mustAdmin(422, "POST", "/admin/v1/webhooks/sup_acme/secret", replacesBody("whsec_none")).mustFail(t, 422, "invalid_payload")
	want(first)
	second := rotate("")
	want(second, first)
	x = x.restart()
	want(second, first)
	if question, hints := x.mustRequireConfirmation("/admin/v1/webhooks/sup_acme/secret", ""); hints != second[:10]+" "+first[:10]+" " || *question.Live[0].Previous || !*question.Live[1].Previous {
		t.Errorf("unexpected secrets in the confirmation: %+v", question)
	}
	x.mustRequireConfirmation("/admin/v1/webhooks/sup_acme/secret", replacesBody("whsec_none"))
	want(second, first)
	third := rotate(replacesBody(first[:10]))
	want(third, second)
	fourth := rotate(replacesBody(third[:10])) // the receiver still verifies with the second one
	want(fourth, second)
	x.mustAdmin(204, "PUT", "/admin/v1/secrets/supplier/sup_acme/webhook", `{"value":"`+third+`"}`)
	want(third, second)
	x.mustAdmin(204, "DELETE", "/admin/v1/webhooks/sup_acme/secret/previous", "")
	want(third)
	x = x.restart()
	want(third)
	x.mustReload()
	want(third)

	x.mustAdmin(422, "PUT", "/admin/v1/secrets/supplier/sup_acme/webhook", `{"value":"hunter2"}`).mustFail(t, 422, "invalid_payload")
	x.mustAdmin(204, "PUT", "/admin/v1/secrets/supplier/sup_acme/webhook", `{"value":"`+second+`"}`)
	want(second)
	x.mustAdmin(409, "POST", "/admin/v1/webhooks/sup_other/secret", "").mustFail(t, 409, "invalid_transition")
	x.mustAdmin(404, "POST", "/admin/v1/webhooks/sup_none/secret", "").mustFail(t, 404, "not_found")
}
