package exchange

import (
	"strings"
	"testing"
)

// TestAPIDocumentsReadNoEnvironment: neither a whole document nor an entry.
func TestAPIDocumentsReadNoEnvironment(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	const withVariable = `{"id":"buy_thief","endpoint":"http://127.0.0.1:9","auth":{"bearer":"${PASSWORD}"}}`
	a := x.adminRequest("PUT", configURL+"buyers/buy_thief", withVariable, "If-None-Match", "*")
	if a.mustFail(t, 422, "invalid_payload"); !strings.Contains(a.body, "PASSWORD") {
		t.Errorf("error does not name the variable: %v", a.body)
	}
	document := strings.Replace(baseConfig, "buyers:\n", "buyers:\n  - "+withVariable+"\n", 1)
	x.adminRequest("PUT", "/admin/v1/config", document).mustFail(t, 422, "invalid_payload")
	if value, ok := x.RevealSecret("buyer/buy_thief/bearer"); ok {
		t.Errorf("exchange stored the secret %q", value)
	}
	x.mustAdmin(200, "PUT", "/admin/v1/config", baseConfig) // the active configuration has values of its variables
}

// TestInvalidSecretValuesAreRejected: a value that is invalid in a header leaves the stored one.
func TestInvalidSecretValuesAreRejected(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	x.putEntry("buyers/buy_key", `{"auth":{"api_key":"canary-of-key"},"endpoint":"https://buyer.example","secrets":[{"name":"account","value":"canary-of-account"}]}`)
	for _, name := range []string{"buyer/buy_key/secret/account", "buyer/buy_key/api_key"} {
		before, _ := x.RevealSecret(name)
		for _, value := range []string{`a\u001ab`, `a\nb`, `\u0000`, `é`, strings.Repeat("x", 4097)} {
			x.adminRequest("PUT", "/admin/v1/secrets/"+name, `{"value":"`+value+`"}`).mustFail(t, 422, "invalid_payload")
		}
		if after, _ := x.RevealSecret(name); after != before {
			t.Errorf("%s changed to %q", name, after)
		}
	}
}

// TestAddressesWithSealedVariables: a document without the value of a URL's variable may not move
// it to plain HTTP, and may not change a URL with the variable as its host.
func TestAddressesWithSealedVariables(t *testing.T) {
	t.Parallel()
	document := func(path, host string) string {
		return strings.Replace(baseConfig, "buyers:\n", "buyers:\n  - {id: buy_path, post_url: \""+path+"\"}\n  - {id: buy_host, endpoint: \""+host+"\"}\n", 1)
	}
	const path, host = "https://a.example/${BLUE_TOKEN}", "https://${BLUE_TOKEN}.example/leads"
	x := start(t, newTestDir(t, document(path, host)))
	for name, row := range map[string]struct {
		path, host string
		status     int
	}{
		"unchanged":                       {path, host, 200},
		"another path":                    {path + "/b", host, 200},
		"plain HTTP":                      {"http://192.0.2.1/${BLUE_TOKEN}", host, 422},
		"a user before the host":          {"https://b@a.example/${BLUE_TOKEN}", host, 422},
		"another path of an unknown host": {path, host + "/b", 422},
		"another host of an unknown host": {path, "https://${BLUE_TOKEN}.evil.example/leads", 422},
		"an unknown host":                 {"https://${BLUE_TOKEN}/b", host, 422},
		"exchanged URLs":                  {host, path, 422},
	} {
		if a := x.adminRequest("PUT", "/admin/v1/config", document(row.path, row.host)); a.status != row.status {
			t.Errorf("%s: got %d %s, want %d", name, a.status, a.body, row.status)
		}
	}
}
