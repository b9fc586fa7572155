package seller

import (
	"strings"
	"testing"
)

// TestCredentialPrecedence: a flag precedes the environment, a token precedes a client, and
// a client precedes an API key. If there was a choice, stderr names it.
func TestCredentialPrecedence(t *testing.T) {
	const (
		token  = `POST /v1/ping Bearer T {"auction_id":"k"}`
		client = `POST /v1/ping Bearer given {"auction_id":"k"}`
		key    = `POST /api/v1/ping K {}`
	)
	for _, row := range []struct{ environment, flags, wantRequest, wantStderr string }{
		{"", "--token T", token, ""},
		{"PINGPOST_TOKEN=T", "", token, ""},
		{"PINGPOST_API_KEY=K", "", key, ""},
		{"", "--api-key K", key, ""},
		{"PINGPOST_CLIENT_ID=acme PINGPOST_CLIENT_SECRET=s", "", client, ""},
		{"PINGPOST_CLIENT_SECRET=s", "--client-id acme", client, ""},
		{"PINGPOST_CLIENT_ID=acme", "--client-secret s", client, ""},
		{"PINGPOST_CLIENT_SECRET=s PINGPOST_API_KEY=K", "", key, ""},
		{
			"PINGPOST_CLIENT_ID=acme PINGPOST_CLIENT_SECRET=s PINGPOST_API_KEY=K", "", client,
			"client acme, by PINGPOST_CLIENT_ID; left unused: PINGPOST_API_KEY",
		},
		{
			"PINGPOST_CLIENT_ID=acme PINGPOST_CLIENT_SECRET=s PINGPOST_TOKEN=T PINGPOST_API_KEY=K", "", token,
			"the token's owner, by PINGPOST_TOKEN; left unused: PINGPOST_CLIENT_ID, PINGPOST_API_KEY",
		},
		{
			"PINGPOST_CLIENT_ID=acme PINGPOST_CLIENT_SECRET=s PINGPOST_TOKEN=T", "--api-key K", key,
			"the API key's supplier, by --api-key; left unused: PINGPOST_TOKEN, PINGPOST_CLIENT_ID",
		},
		{
			"PINGPOST_TOKEN=other PINGPOST_CLIENT_SECRET=s", "--client-id acme", client,
			"client acme, by --client-id; left unused: PINGPOST_TOKEN",
		},
		{"PINGPOST_TOKEN=other", "--token T", token, ""},
	} {
		answer := bidAnswer
		if row.wantRequest == key {
			answer = `{"data":{"ping_id":"ping_1","campaign_id":"cmp","accepted":false,"buyers":[],"reason":"filtered"}}`
		}
		x := newRecordingExchange(t, 200, answer)
		_, stderr, err := command(t, row.environment+" ping --key k "+row.flags+" --url "+x.URL, "")
		if err != nil || x.requests[len(x.requests)-1] != row.wantRequest {
			t.Errorf("%s, %s: %v, requests %q", row.environment, row.flags, err, x.requests)
		}
		if _, got, _ := strings.Cut(collapseSpaces(stderr), "sent as "); row.wantStderr != "" && !strings.HasPrefix(got, row.wantStderr+"\n") || row.wantStderr == "" && got != "" {
			t.Errorf("%s, %s: stderr %q", row.environment, row.flags, collapseSpaces(stderr))
		}
	}
}
