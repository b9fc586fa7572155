package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pingpost/engine/market"
)

func documentWithWebhook(webhook string) string {
	return "trusted_networks: [10.1.0.0/16]\nsuppliers:\n  - {id: bare}\n  - {id: sup, webhook: " + webhook + "}\n"
}

// TestCompileWebhook: the catalog has the address and the secret's name; only the initial values
// have the secret, if the document gives it.
func TestCompileWebhook(t *testing.T) {
	for name, c := range map[string]struct {
		webhook string
		want    market.OutboundEndpoint
		secrets []string
	}{
		"https": {
			`{url: "https://a.example/hooks?x=1", secret: whsec_aGk=}`,
			market.OutboundEndpoint{URL: "https://a.example/hooks?x=1", Credential: "supplier/sup/webhook"},
			[]string{"supplier/sup/webhook=whsec_aGk="},
		},
		"http inside trusted networks": {
			`{url: "http://10.1.2.3:80/", secret: whsec_aGk}`,
			market.OutboundEndpoint{URL: "http://10.1.2.3:80/", Credential: "supplier/sup/webhook"},
			[]string{"supplier/sup/webhook=whsec_aGk"},
		},
		"http to a name, which is checked when dialing": {
			`{url: "http://inside.example/", secret: whsec_aGk}`,
			market.OutboundEndpoint{URL: "http://inside.example/", Credential: "supplier/sup/webhook"},
			[]string{"supplier/sup/webhook=whsec_aGk"},
		},
		"a secret set before": {
			`{url: "https://a.example", secret: {set: true}}`,
			market.OutboundEndpoint{URL: "https://a.example", Credential: "supplier/sup/webhook"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := compileText(t, documentWithWebhook(c.webhook), nil)
			if got := x.Catalog.Suppliers["sup"].Webhooks; got == nil || !reflect.DeepEqual(*got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if got := x.Catalog.Suppliers["bare"].Webhooks; got != nil {
				t.Errorf("a supplier without a webhook has %+v", got)
			}
			var secrets []string
			for _, s := range x.Initial.Secrets {
				secrets = append(secrets, s.Name+"="+s.Value.Reveal())
			}
			if !slices.Equal(secrets, c.secrets) {
				t.Errorf("initial secrets %q, want %q", secrets, c.secrets)
			}
		})
	}
}

func TestInvalidWebhooks(t *testing.T) {
	const secret = ", secret: whsec_aGk="
	checkProblems(t, []invalidDocument{
		{"http to a private address", documentWithWebhook(`{url: "http://10.2.0.1/"` + secret + "}"), "suppliers[1].webhook.url", "trusted_networks"},
		{"http to a public address", documentWithWebhook(`{url: "http://93.184.216.34/"` + secret + "}"), "suppliers[1].webhook.url", "trusted_networks"},
		{"not an address", documentWithWebhook(`{url: "acme"` + secret + "}"), "suppliers[1].webhook.url", "not an address"},
		{"another protocol", documentWithWebhook(`{url: "ftp://a.example/"` + secret + "}"), "suppliers[1].webhook.url", "has a scheme other than https and http"},
		{"a password", documentWithWebhook(`{url: "https://a:b@a.example/"` + secret + "}"), "suppliers[1].webhook.url", "user or password"},
		{"no secret", documentWithWebhook(`{url: "https://a.example/"}`), "suppliers[1].webhook.secret", "is missing"},
		{"an empty secret", documentWithWebhook(`{url: "https://a.example/", secret: whsec_}`), "suppliers[1].webhook.secret", "whsec_"},
		{"a secret that is too long", documentWithWebhook(`{url: "https://a.example/", secret: whsec_` + strings.Repeat("A", 4096) + "}"), "suppliers[1].webhook.secret", "whsec_"},
	})
}
