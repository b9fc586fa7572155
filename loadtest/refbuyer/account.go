package refbuyer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pingpost/engine/market"
)

// requestTimeout limits a request for an account.
const requestTimeout = 30 * time.Second

// FetchAccount reads the account of the reference buyer at a URL.
func FetchAccount(ctx context.Context, url string) (stats Stats, leads []Lead, err error) {
	url = strings.TrimRight(url, "/")
	var answer struct {
		Stats
		Revenue json.Number `json:"revenue"` // a sum, which may exceed the highest price
	}
	if err := FetchJSON(ctx, url+"/stats", func(d *json.Decoder) error { return d.Decode(&answer) }); err != nil {
		return stats, nil, err
	}
	stats = answer.Stats
	if stats.Revenue, err = parseSum(answer.Revenue.String()); err != nil {
		return stats, nil, err
	}
	err = FetchJSON(ctx, url+"/leads", func(d *json.Decoder) error {
		for d.More() {
			var lead Lead
			if err := d.Decode(&lead); err != nil {
				return err
			}
			leads = append(leads, lead)
		}
		return nil
	})
	return stats, leads, err
}

// parseSum parses a sum of money. Only its type limits it.
func parseSum(digits string) (market.Money, error) {
	whole, fraction, _ := strings.Cut(digits, ".")
	sum, err := strconv.ParseInt(whole+(fraction + "000000")[:6], 10, 64)
	if err != nil || whole == "" || len(fraction) > 6 {
		return 0, fmt.Errorf("revenue %q is no amount", digits)
	}
	return market.Money(sum), nil
}

// FetchJSON requests a URL and decodes the answer, whose status must be 200.
func FetchJSON(ctx context.Context, url string, decode func(*json.Decoder) error) error {
	return Fetch(ctx, url, func(body io.Reader) error { return decode(json.NewDecoder(body)) })
}

// Fetch requests a URL and reads the answer's body. The status must be 200.
func Fetch(ctx context.Context, url string, read func(body io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d", url, response.StatusCode)
	}
	return read(response.Body)
}
