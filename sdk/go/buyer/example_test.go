package buyer_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"pingpost/sdk/go/buyer"
	"pingpost/sdk/go/model"
)

// A buyer bids for leads from California and accepts posts.
func Example() {
	b, err := buyer.New(buyer.Options{
		Bearer: "the-token-that-the-operator-knows",
		Bid: func(_ context.Context, ping *model.PingRequest) (buyer.Bid, error) {
			if ping.State != model.StateCodeCA {
				return buyer.Bid{}, buyer.NoBid{Reason: "state", Detail: "Only California."}
			}
			return buyer.Bid{Amount: 12.5, Currency: "USD"}, nil
		},
		Post: func(_ context.Context, post *model.LeadDelivery) (string, error) {
			return "BLUE-1", nil // store the lead here
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(b) // or http.ListenAndServe(":8090", b)
	defer server.Close()

	ping := `{"auction_id": "auc_1", "vertical": "auto_insurance", "state": "NV", "tcpa_consent": true}`
	req, _ := http.NewRequest(http.MethodPost, server.URL+"/v1/ping", strings.NewReader(ping))
	req.Header.Set("Authorization", "Bearer the-token-that-the-operator-knows")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", "ping-1")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	fmt.Println(answer.StatusCode)
	// Output: 200
}
