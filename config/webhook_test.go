package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pingpost/engine/market"
)

func supplierWith(webhook string) string {
	return "trusted_networks: [10.1.0.0/16]\nsuppliers:\n  - {id: bare}\n  - {id: sup, webhook: " + webhook + "}\n"
}

// TestWebhookIsCompiled: the catalog has the address and the name of the secret,
// and the value goes to the first values alone, where it is known.
func TestWebhookIsCompiled(t *testing.T) {
	for name, c := range map[string]struct {
		webhook string
		want    market.Endpoint
		secrets []string
	}{
		"https": {
			`{url: "https://a.example/hooks?x=1", secret: whsec_aGk=}`,
			market.Endpoint{URL: "https://a.example/hooks?x=1", Credential: "supplier/sup/webhook"},
			[]string{"supplier/sup/webhook=whsec_aGk="},
		},
		"http inside trusted networks": {
			`{url: "http://10.1.2.3:80/", secret: whsec_aGk}`,
			market.Endpoint{URL: "http://10.1.2.3:80/", Credential: "supplier/sup/webhook"},
			[]string{"supplier/sup/webhook=whsec_aGk"},
		},
		"http to a name, which is judged when it is dialled": {
			`{url: "http://inside.example/", secret: whsec_aGk}`,
			market.Endpoint{URL: "http://inside.example/", Credential: "supplier/sup/webhook"},
			[]string{"supplier/sup/webhook=whsec_aGk"},
		},
		"a secret that is known elsewhere": {
			`{url: "https://a.example", secret: {set: true}}`,
			market.Endpoint{URL: "https://a.example", Credential: "supplier/sup/webhook"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := compiled(t, supplierWith(c.webhook), nil)
			if got := x.Catalog.Suppliers["sup"].Webhooks; got == nil || !reflect.DeepEqual(*got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if got := x.Catalog.Suppliers["bare"].Webhooks; got != nil {
				t.Errorf("who has no webhook has %+v", got)
			}
			var secrets []string
			for _, s := range x.Initial.Secrets {
				secrets = append(secrets, s.Name+"="+s.Value.Reveal())
			}
			if !slices.Equal(secrets, c.secrets) {
				t.Errorf("first secrets %q, want %q", secrets, c.secrets)
			}
		})
	}
}

func TestMistakesInWebhooks(t *testing.T) {
	const secret = ", secret: whsec_aGk="
	checkMistakes(t, []mistake{
		{"private and plain", supplierWith(`{url: "http://10.2.0.1/"` + secret + "}"), "suppliers[1].webhook.url", "trusted_networks"},
		{"public and plain", supplierWith(`{url: "http://93.184.216.34/"` + secret + "}"), "suppliers[1].webhook.url", "trusted_networks"},
		{"no address at all", supplierWith(`{url: "acme"` + secret + "}"), "suppliers[1].webhook.url", "not an address"},
		{"another protocol", supplierWith(`{url: "ftp://a.example/"` + secret + "}"), "suppliers[1].webhook.url", "has a scheme other than https and http"},
		{"a password", supplierWith(`{url: "https://a:b@a.example/"` + secret + "}"), "suppliers[1].webhook.url", "user or password"},
		{"no secret", supplierWith(`{url: "https://a.example/"}`), "suppliers[1].webhook.secret", "is missing"},
		{"a secret of nothing", supplierWith(`{url: "https://a.example/", secret: whsec_}`), "suppliers[1].webhook.secret", "whsec_"},
		{"a secret that is too long", supplierWith(`{url: "https://a.example/", secret: whsec_` + strings.Repeat("A", 4096) + "}"), "suppliers[1].webhook.secret", "whsec_"},
	})
}
