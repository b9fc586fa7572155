package pingpost_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	pingpost "pingpost/sdk/go"
	"pingpost/sdk/go/model"
)

// A supplier sells a lead with its API key.
func ExampleClient_IngestLead() {
	exchange := newAnswerServer(http.StatusCreated, `{"data": {"id": "lead_1", "status": "ACCEPTED", "buyer_id": "buy_blue", "campaign_id": "cmp_auto", "price": {"amount": 9.64, "currency": "USD"}}}`)
	defer exchange.Close()

	client, err := pingpost.New(pingpost.Options{BaseURL: exchange.URL, APIKey: os.Getenv("PINGPOST_API_KEY") + "key"})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := client.IngestLead(context.Background(), model.IngestRequest{
		CampaignID: "cmp_auto", SupplierID: "sup_acme",
		FirstName: "Ann", LastName: "Lee", Phone: "+14155550123", Email: "ann.lee@example.com",
		State: pingpost.Ptr(model.StateCodeCA), TCPAConsent: pingpost.Ptr(true), // optional members are pointers
		More: map[string]any{"vehicle_count": 2},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	lead := answer.Body.Data
	fmt.Println(lead.ID, lead.Status, lead.Price.Amount, lead.Price.Currency)
	// Output: lead_1 ACCEPTED 9.64 USD
}

// A seller requests a bid and sells the lead.
func ExampleClient_SendPing() {
	exchange := newAnswerServer(http.StatusOK, `{"auction_id": "acme-4711", "bid": null, "reject_reason": "below_floor", "reject_detail": "…"}`)
	defer exchange.Close()

	client, err := pingpost.New(pingpost.Options{BaseURL: exchange.URL, Token: "a-sandbox-token"})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := client.SendPing(context.Background(), model.PingRequest{
		AuctionID: "acme-4711", Vertical: "auto_insurance", State: model.StateCodeCA, TCPAConsent: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if answer.Body.Bid == nil {
		fmt.Println("no bid:", *answer.Body.RejectReason)
		return
	}
	_, err = client.SendPost(context.Background(), model.PostRequest{
		AuctionID: answer.Body.AuctionID, BidToken: answer.Body.Bid.BidToken,
		Lead: model.PostLead{LeadUUID: "u-1", FirstName: "Ann", LastName: "Lee", Email: "ann.lee@example.com", Phone: "+14155550123"},
	})
	fmt.Println(err)
	// Output: no bid: below_floor
}

// Inspect an error, and find the key for a retry.
func ExampleAPIError() {
	exchange := newAnswerServer(http.StatusUnprocessableEntity, `{"error": "invalid_payload", "message": "Some fields are wrong.", "request_id": "req_1",
		"field_errors": [{"field": "phone", "code": "invalid_format", "expected": "a phone number"}]}`)
	defer exchange.Close()

	client, err := pingpost.New(pingpost.Options{BaseURL: exchange.URL, APIKey: "key"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.IngestLead(context.Background(), model.IngestRequest{}, pingpost.WithIdempotencyKey("mine-1"))
	var refused *pingpost.APIError
	if errors.As(err, &refused) {
		fmt.Println(refused.Code, refused.FieldErrors[0].Field, refused.FieldErrors[0].Expected)
	}
	fmt.Println(errors.Is(err, pingpost.ErrInvalidRequest), pingpost.IdempotencyKey(err))
	// Output:
	// invalid_payload phone a phone number
	// true mine-1
}

// A supplier's webhook endpoint.
func ExampleVerifyWebhook() {
	hooks := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
		if err != nil {
			return
		}
		event, err := pingpost.VerifyWebhook(body, r.Header, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
		if err != nil {
			http.Error(w, "not signed by us", http.StatusBadRequest)
			return
		}
		fmt.Println(event.Type, event.Data.LeadID) // events may repeat: drop repetitions by event.ID
	})
	answer := httptest.NewRecorder()
	hooks.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/hooks", http.NoBody))
	fmt.Println(answer.Code)
	// Output: 400
}

func newAnswerServer(status int, body string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
}
