package seller

import (
	"strings"
	"testing"
)

// TestWhoAsks: a flag goes before the environment, a token before a client and
// that before an API key; and where there was a choice, it is told.
func TestWhoAsks(t *testing.T) {
	const (
		token  = `POST /v1/ping Bearer T {"auction_id":"k"}`
		client = `POST /v1/ping Bearer given {"auction_id":"k"}`
		key    = `POST /api/v1/ping K {}`
	)
	for _, row := range []struct{ environment, flags, asked, told string }{
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
		answer := aBid
		if row.asked == key {
			answer = `{"data":{"ping_id":"ping_1","campaign_id":"cmp","accepted":false,"buyers":[],"reason":"filtered"}}`
		}
		x := newCounter(t, 200, answer)
		_, told, err := command(t, row.environment+" ping --key k "+row.flags+" --url "+x.URL, "")
		if err != nil || x.asked[len(x.asked)-1] != row.asked {
			t.Errorf("%s, %s: %v, asked %q", row.environment, row.flags, err, x.asked)
		}
		if _, said, _ := strings.Cut(flat(told), "sent as "); row.told != "" && !strings.HasPrefix(said, row.told+"\n") || row.told == "" && said != "" {
			t.Errorf("%s, %s: told %q", row.environment, row.flags, flat(told))
		}
	}
}
