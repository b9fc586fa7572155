package exchange

import (
	"strings"
	"testing"
)

// TestSecretListHasReplaceableSecrets: the list names each secret that PUT secrets/NAME replaces,
// without its value.
func TestSecretListHasReplaceableSecrets(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	x.putEntry("buyers/buy_oauth", `{"auth":{"oauth":{"token_url":"https://auth.example/token","client_id":"us","client_secret":"canary-of-oauth"}},
		"endpoint":"https://buyer.example","secrets":[{"name":"account","value":"canary-of-account"}]}`)
	x.putEntry("buyers/buy_key", `{"auth":{"api_key":"canary-of-key"},"endpoint":"https://buyer.example"}`)
	x.putEntry("suppliers/sup_told", `{"webhook":{"url":"https://hooks.example","secret":"whsec_Y2FuYXJ5LXNlY3JldC1vZi1hY21lLTEyMzQ="}}`)
	x.mustAdmin(201, "POST", "/admin/v1/webhooks/sup_told/secret", "")
	a := x.mustAdmin(200, "GET", "/admin/v1/secrets", "")
	if strings.Contains(a.body, "canary") || strings.Contains(a.body, "whsec_") {
		t.Errorf("secret list contains a value: %v", a.body)
	}
	var names []string
	for _, s := range decode[struct{ Secrets []struct{ Name string } }](t, a).Secrets {
		names = append(names, s.Name)
		value := "canary-of-a-new-one"
		if strings.HasPrefix(s.Name, "supplier/") {
			value = "whsec_Y2FuYXJ5LXNlY3JldC1vZi1hY21lLTU2Nzg="
		}
		x.mustAdmin(204, "PUT", "/admin/v1/secrets/"+s.Name, `{"value":"`+value+`"}`)
		if got, _ := x.RevealSecret(s.Name); got != value {
			t.Errorf("%s was not replaced", s.Name)
		}
	}
	const want = "buyer/buy_key/api_key buyer/buy_oauth/oauth buyer/buy_oauth/secret/account supplier/sup_told/webhook"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got secrets %s, want %s", got, want)
	}
}
