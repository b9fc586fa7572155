package refbuyer

import (
	"strings"
	"testing"
)

// TestLongest: the longest texts that an exchange accepts also sell.
func TestLongest(t *testing.T) {
	_, base := start(t, Options{Bid: Fixed(12_500_000)})
	long := strings.Repeat("n", 4096)
	for what, member := range map[string]string{
		"source":   `"source":"` + long + `"`,
		"vertical": `"sub_vertical":"` + strings.Repeat("\U0001F697", 255) + `"`,
		"band":     `"driver_age_band":"` + strings.Repeat(long, 3) + `"`,
		"web":      `"consent_cert_url":"HTTPS://a.test/` + strings.Repeat("c", 2000) + `"`,
		"whole":    `"vehicle_count":2.0`,
	} {
		body := strings.Replace(pingOf("auc_"+what[:3]), "{", "{"+member+",", 1)
		if got, text, _ := ask(t, base, what, body); got.Bid == nil {
			t.Errorf("%s: %s", what, text)
		}
	}
	for _, name := range []string{"first_name", "last_name"} {
		body := strings.Replace(lead("l-"+name), `"`+name+`":"`, `"`+name+`":"`+long[:4000], 1)
		if status, text, _ := send(t, "POST", base+"/v1/post", body, "Idempotency-Key", name); status != 201 {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}
