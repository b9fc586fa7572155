package exchange

import (
	"strings"
	"testing"
)

// TestSentDocumentsReadNoEnvironment: a document of the admin API takes no value of the
// exchange's environment, whole or entry by entry.
func TestSentDocumentsReadNoEnvironment(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	const thief = `{"id":"buy_thief","endpoint":"http://127.0.0.1:9","auth":{"bearer":"${PASSWORD}"}}`
	a := x.operate("PUT", configAt+"buyers/buy_thief", thief, "If-None-Match", "*")
	if a.mustFail(t, 422, "invalid_payload"); !strings.Contains(a.body, "PASSWORD") {
		t.Error(a.body)
	}
	whole := strings.Replace(recorded, "buyers:\n", "buyers:\n  - "+thief+"\n", 1)
	x.operate("PUT", "/admin/v1/config", whole).mustFail(t, 422, "invalid_payload")
	if value, ok := x.RevealSecret("buyer/buy_thief/bearer"); ok {
		t.Errorf("the exchange sealed %q", value)
	}
	x.must(200, "PUT", "/admin/v1/config", recorded) // its variables have values in force
}

// TestSecretsThatCannotBeSentAreRefused also leave the value before in force.
func TestSecretsThatCannotBeSentAreRefused(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.put("buyers/buy_key", `{"auth":{"api_key":"canary-of-key"},"endpoint":"https://buyer.example","secrets":[{"name":"account","value":"canary-of-account"}]}`)
	for _, name := range []string{"buyer/buy_key/secret/account", "buyer/buy_key/api_key"} {
		before, _ := x.RevealSecret(name)
		for _, value := range []string{`a\u001ab`, `a\nb`, `\u0000`, `é`, strings.Repeat("x", 4097)} {
			x.operate("PUT", "/admin/v1/secrets/"+name, `{"value":"`+value+`"}`).mustFail(t, 422, "invalid_payload")
		}
		if after, _ := x.RevealSecret(name); after != before {
			t.Errorf("%s is %q", name, after)
		}
	}
}

// TestAddressesWithSealedVariables: a document without the value of an address's variable
// may not move it to plain HTTP, and may not change an address whose host is the variable.
func TestAddressesWithSealedVariables(t *testing.T) {
	document := func(path, host string) string {
		return strings.Replace(recorded, "buyers:\n", "buyers:\n  - {id: buy_path, post_url: \""+path+"\"}\n  - {id: buy_host, endpoint: \""+host+"\"}\n", 1)
	}
	const path, host = "https://a.example/${BLUE_TOKEN}", "https://${BLUE_TOKEN}.example/leads"
	x := start(t, newPlace(t, document(path, host)))
	for name, row := range map[string]struct {
		path, host string
		status     int
	}{
		"as they are":                     {path, host, 200},
		"another path":                    {path + "/b", host, 200},
		"plain HTTP":                      {"http://192.0.2.1/${BLUE_TOKEN}", host, 422},
		"a user before the host":          {"https://b@a.example/${BLUE_TOKEN}", host, 422},
		"another path of an unknown host": {path, host + "/b", 422},
		"another host of an unknown host": {path, "https://${BLUE_TOKEN}.evil.example/leads", 422},
		"an unknown host":                 {"https://${BLUE_TOKEN}/b", host, 422},
		"the host of another place":       {host, path, 422},
	} {
		if a := x.operate("PUT", "/admin/v1/config", document(row.path, row.host)); a.status != row.status {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}
