package load

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/market/format"
)

var auctions = Auctions{Host: "127.0.0.1:8080", Token: "secret", Vertical: "auto"}

// sentPing and sentPost are the bodies according to the API.
type sentPing struct {
	Auction   string    `json:"auction_id"`
	Vertical  string    `json:"vertical"`
	State     string    `json:"state"`
	Zip3      string    `json:"zip3"`
	Insured   *bool     `json:"currently_insured"`
	Vehicles  *int      `json:"vehicle_count"`
	AgeBand   string    `json:"driver_age_band"`
	Quality   float64   `json:"ai_quality_score"`
	Consent   bool      `json:"tcpa_consent"`
	URL       string    `json:"consent_cert_url"`
	ExpiresAt time.Time `json:"expires_at"`
}

type sentPost struct {
	Auction string `json:"auction_id"`
	Token   string `json:"bid_token"`
	Lead    struct {
		UUID    string `json:"lead_uuid"`
		First   string `json:"first_name"`
		Last    string `json:"last_name"`
		Email   string `json:"email"`
		Phone   string `json:"phone"`
		Address struct {
			Line1, City, State, Zip string
		} `json:"address"`
		TCPA struct {
			URL string `json:"consent_cert_url"`
		} `json:"tcpa"`
	} `json:"lead"`
}

// bodyOf checks the head of a request and decodes its body.
func bodyOf(t interface{ Fatalf(string, ...any) }, request []byte, head string, into any) {
	before, body, _ := bytes.Cut(request, []byte("\r\n\r\n"))
	if want := head + "\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)); string(before) != want {
		t.Fatalf("got  %q\nwant %q", before, want)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
}

func headOf(verb string, n uint64) string {
	return "POST /v1/" + verb + " HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAuthorization: Bearer secret\r\nIdempotency-Key: " + verb + "-" + strconv.FormatUint(n, 10)
}

// TestPingAndPostAreOfOneLead: the common fields of ping and post agree.
func TestPingAndPostAreOfOneLead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(0, MaxLeads-1).Draw(t, "n")
		var ping sentPing
		var post sentPost
		begun := time.Now()
		bodyOf(t, auctions.AppendPing(nil, n), headOf("ping", n), &ping)
		bodyOf(t, auctions.AppendPost(nil, n, []byte("bid_X")), headOf("post", n), &post)
		if ping.Auction != post.Auction || ping.Auction == "" || len(ping.Auction) > 64 || post.Token != "bid_X" {
			t.Errorf("auction %q and %q, token %q", ping.Auction, post.Auction, post.Token)
		}
		if a := post.Lead.Address; a.State != ping.State || !strings.HasPrefix(a.Zip, ping.Zip3) || len(ping.Zip3) != 3 || a.Line1 == "" || a.City == "" {
			t.Errorf("%+v of a ping of %s %s", a, ping.State, ping.Zip3)
		}
		if left := ping.ExpiresAt.Sub(begun); left < pingExpiry-time.Millisecond || left > pingExpiry+time.Minute {
			t.Errorf("expires in %s", left)
		}
		if ping.Vertical != "auto" || ping.Insured == nil || ping.Vehicles == nil || ping.AgeBand == "" || ping.Quality <= 0 || ping.Quality >= 1 ||
			!ping.Consent || ping.URL == "" || ping.URL != post.Lead.TCPA.URL {
			t.Errorf("%+v", ping)
		}
		if _, ok := format.AppendPhoneAsE164(nil, []byte(post.Lead.Phone)); !ok {
			t.Errorf("phone %q", post.Lead.Phone)
		}
		if _, ok := format.AppendEmailWithLowerDomain(nil, []byte(post.Lead.Email)); !ok {
			t.Errorf("email %q", post.Lead.Email)
		}
	})
}

// TestOpenRTBAuctionNeedsEachBid: the request names the bidders, and an answer without a bid of each is bad.
func TestOpenRTBAuctionNeedsEachBid(t *testing.T) {
	requests := OpenRTB{Host: "127.0.0.1:8080", Bidders: 2}
	var sent struct {
		ID  string
		Imp []struct {
			ID  string
			Ext struct {
				Prebid struct{ Bidder map[string]json.RawMessage }
			}
		}
	}
	bodyOf(t, requests.Append(nil, 7), "POST /openrtb2/auction HTTP/1.1\r\nHost: 127.0.0.1:8080", &sent)
	if sent.ID != "auction-7" || len(sent.Imp) != 1 || sent.Imp[0].ID != "1" || len(sent.Imp[0].Ext.Prebid.Bidder) != 2 {
		t.Errorf("%+v", sent)
	}
	const first, second = `{"seat":"pingpost1"}`, `{"seat":"pingpost2"}`
	isGood := NewPublisher(requests).IsGood
	for body, want := range map[string]bool{`{"seatbid":[` + first + "," + second + "]}": true, `{"seatbid":[` + first + "]}": false, `{"seatbid":[]}`: false} {
		if isGood(Answer{Status: 200, Body: []byte(body)}) != want {
			t.Errorf("%s is good: %v", body, !want)
		}
	}
}
