package main

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"pingpost/loadtest/leads"
)

//go:embed demo_sandbox.yaml
var demoSandboxText string

var demoSandboxTemplate = template.Must(template.New("sandbox.yaml").Parse(demoSandboxText))

// demoSandbox writes the configuration of the tenant to try things on. The one of
// the demonstration's buyers that bids a fixed price bids there too.
func demoSandbox(set *demoSet) ([]byte, error) {
	values := map[string]any{
		"IngestRate": demoIngestRate, "Supplier": demoSupplier, "Password": set.password, "SandboxToken": set.sandboxToken,
		"Token": set.token, "Share": fmt.Sprintf("0.%d", demoShare), "Bands": strings.Join(quoted(leads.AgeBands), ", "),
	}
	for _, b := range set.buyers {
		if b.ID == "bid_fixed" {
			values["Bidder"] = b
		}
	}
	var out strings.Builder
	if err := demoSandboxTemplate.Execute(&out, values); err != nil {
		return nil, fmt.Errorf("cannot write the sandbox's configuration: %w", err)
	}
	return []byte(out.String()), nil
}

// sandboxInvitation is what to try there.
func (x *demoExchange) sandboxInvitation() string {
	return fmt.Sprintf(`
Or try things on in the sandbox, a tenant of its own. It makes leads up, and sends
them through a campaign where one is named:

  curl -s %[1]s/v1/dev/seed -H 'Authorization: Bearer %[2]s' \
    -H 'Content-Type: application/json' -d '{"count": 100,
    "vertical": "auto_insurance", "state": "CA", "campaign_id": "cmp_bids"}'
`, x.sandbox, x.set.sandboxToken)
}
