package witness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/oauth2/clientcredentials"

	"pingpost/engine/market"
)

const (
	pathIngest       = "/api/v1/ingest"
	pathAvailability = "/api/v1/ping"

	pathPing = "/v1/ping"
	pathPost = "/v1/post"
)

// auctionPercent of all leads are sold by ping and post.
const auctionPercent = 35

// pingAndPost sends a ping, and posts the lead if a buyer bids. It drops a bid that expires
// while the exchange is down. It returns false when the context ends.
func (c *SupplierPool) pingAndPost(ctx context.Context, client *sellerClient, name string, random *rand.Rand) bool {
	person := c.newIngest("", random, (*campaignConfig).isAuction)
	campaign := c.config.campaignByID(person.campaign)
	ping := &clientRequest{path: pathPing, key: "ping-" + name, campaign: campaign.id, isTest: drawIsTest(random), body: Encode(Object{
		"auction_id": name, "vertical": campaign.vertical, "state": "CA", "zip3": "941", "tcpa_consent": true,
	})}
	a, ok := client.send(ctx, ping)
	if !ok {
		return false
	}
	answer := c.answers.add(ping, a)
	if answer == nil || answer.bid == 0 {
		return true
	}
	rivals := []*clientRequest{c.newPost(ping, "", parseBidToken(a.Body), person)}
	if random.IntN(100) < rivalPercent {
		rivals = append(rivals, c.newPost(ping, rivalMark, parseBidToken(a.Body), c.newIngest("", random, (*campaignConfig).isAuction)))
		rivals[0].hasRival, rivals[1].hasRival = true, true
	}
	return c.sendConcurrently(ctx, client, rivals)
}

// rivalPercent of the bids receive two leads of different persons at once. The exchange may
// sell only one of them; if its buyer refuses the first, it may sell the second.
const (
	rivalPercent = 15
	rivalMark    = "-rival"
)

func (c *SupplierPool) newPost(ping *clientRequest, keySuffix, bidToken string, person *clientRequest) *clientRequest {
	name := strings.TrimPrefix(ping.key, "ping-")
	post := &clientRequest{path: pathPost, key: "post-" + name + keySuffix, campaign: ping.campaign, isTest: ping.isTest, phone: person.phone, email: person.email}
	post.body = Encode(Object{"auction_id": name, "bid_token": bidToken, "lead": Object{
		"lead_uuid": "of " + name + keySuffix, "first_name": "Ann", "last_name": "Example", "phone": person.phone, "email": person.email,
		"address": Object{"state": "CA"}, "tcpa": Object{},
	}})
	return post
}

// auctionIDFromKey returns the auction id in the key of a ping or a post.
func auctionIDFromKey(key string) string {
	_, name, _ := strings.Cut(key, "-")
	return strings.TrimSuffix(name, rivalMark)
}

// sendConcurrently sends the posts at the same time and waits until each is answered.
func (c *SupplierPool) sendConcurrently(ctx context.Context, client *sellerClient, posts []*clientRequest) bool {
	answered := make(chan bool, len(posts))
	for i, post := range posts {
		alone := *client.Client
		alone.random = rand.New(rand.NewPCG(client.random.Uint64(), uint64(i)))
		one := sellerClient{&alone, client.token}
		go func() {
			a, ok := one.send(ctx, post)
			if ok {
				c.answers.add(post, a)
			}
			answered <- ok
		}()
	}
	all := true
	for range posts {
		all = <-answered && all
	}
	return all
}

// Encode returns a value as JSON.
func Encode(value Object) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

// pingResponse is the answer to a ping.
type pingResponse struct {
	Bid *struct {
		Amount market.Money `json:"amount"`
		Token  string       `json:"bid_token"`
	} `json:"bid"`
	Reason string `json:"reject_reason"`
}

func parseBidToken(pingAnswer string) string {
	var said pingResponse
	if json.Unmarshal([]byte(pingAnswer), &said) != nil || said.Bid == nil {
		return ""
	}
	return said.Bid.Token
}

func (t *answeredRequest) parsePingAnswer() error {
	var said pingResponse
	if err := json.Unmarshal([]byte(t.Body), &said); err != nil {
		return err
	}
	switch {
	case said.Bid != nil && said.Bid.Amount > 0 && said.Bid.Token != "":
		t.bid = said.Bid.Amount
	case said.Bid != nil || said.Reason == "":
		return errors.New("the answer has no bid and no reject_reason")
	default:
		t.parsed.Data.Reason = said.Reason
	}
	return nil
}

// parseRejectedPost parses the answer to a post that was not sold. A rejection that the log
// records is final. An expired bid, or a bid that a rival lead used, is not recorded.
func (t *answeredRequest) parseRejectedPost() (final bool, err error) {
	var said struct {
		Error  string `json:"error"`
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal([]byte(t.Body), &said); err != nil {
		return false, err
	}
	switch {
	case t.Status == http.StatusGone && said.Error == "bid_expired", t.Status == http.StatusConflict && said.Error == "already_sold" && t.hasRival:
		return false, nil
	case t.Status == http.StatusUnprocessableEntity && said.Error == "post_rejected":
		t.postRejected, t.parsed.Data.Reason = true, said.Reason
		return true, nil
	}
	return false, errors.New("a post cannot have this answer")
}

// choicePercent of the other leads send an availability request and then an ingest for one of
// the offered buyers. This applies to full configurations only.
const choicePercent = 25

// askAndIngest sends an availability request, and then the lead for one of the offered buyers.
func (c *SupplierPool) askAndIngest(ctx context.Context, client *sellerClient, name string, random *rand.Rand) bool {
	lead := c.newIngest("choice-"+name, random, (*campaignConfig).isAuction)
	lead.isTest = drawIsTest(random)
	ask := &clientRequest{path: pathAvailability, key: "ask-" + name, campaign: lead.campaign, isTest: lead.isTest, body: Encode(Object{
		"flo_campaign_id": lead.campaign, "flo_supplier_id": SupplierID, "state": "CA",
	})}
	a, ok := client.send(ctx, ask)
	if !ok {
		return false
	}
	answer := c.answers.add(ask, a)
	if answer == nil || len(answer.offers) == 0 {
		return true
	}
	buyers := slices.Sorted(maps.Keys(answer.offers))
	lead.chosenBuyer = buyers[random.IntN(len(buyers))]
	lead.chosenPayout = answer.offers[lead.chosenBuyer]
	body := lead.ingestBody()
	body["flo_ping_id"], body["flo_buyer_id"] = answer.parsed.Data.ID, lead.chosenBuyer
	lead.body = Encode(body)
	if a, ok = client.send(ctx, lead); ok {
		c.answers.add(lead, a)
	}
	return ok
}

// parseAvailabilityAnswer parses the offered buyers and payouts.
func (t *answeredRequest) parseAvailabilityAnswer() error {
	var said struct {
		Data struct {
			Ping     string `json:"ping_id"`
			Accepted bool   `json:"accepted"`
			Buyers   []struct {
				Buyer  string       `json:"buyer_id"`
				Amount market.Money `json:"amount"`
			} `json:"buyers"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(t.Body), &said); err != nil {
		return err
	}
	if said.Data.Ping == "" || said.Data.Accepted != (len(said.Data.Buyers) > 0) {
		return errors.New("the answer has no ping_id, or accepted contradicts the list of buyers")
	}
	t.parsed.Data.ID, t.offers = said.Data.Ping, bidsByBuyer{}
	for _, b := range said.Data.Buyers {
		t.offers[b.Buyer] = b.Amount
	}
	return nil
}

// FetchToken returns an OAuth token of a client. It stays valid over restarts of the exchange.
func FetchToken(ctx context.Context, address, id string, scopes ...string) (string, error) {
	config := clientcredentials.Config{ClientID: id, ClientSecret: ClientSecret, Scopes: scopes, TokenURL: address + "/oauth/token"}
	granted, err := config.Token(ctx)
	if err != nil {
		return "", fmt.Errorf("cannot get a token for %s: %w", id, err)
	}
	return granted.AccessToken, nil
}

func (x *Exchange) fetchToken(id string, scopes ...string) string {
	x.t.Helper()
	token, err := FetchToken(x.t.Context(), x.locator.await(x.t.Context()), id, scopes...)
	if err != nil {
		x.t.Fatal(err)
	}
	return token
}
