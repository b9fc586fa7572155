package witness

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"

	"golang.org/x/oauth2/clientcredentials"

	"pingpost/engine/market"
)

const (
	pathIngest = "/api/v1/ingest"

	pathPing = "/v1/ping"
	pathPost = "/v1/post"
)

// offerShare of all permits, in percent, is used for a ping and a post, where the
// terms have auctions, and fewShare where they have all else, too.
const (
	offerShare = 60
	fewShare   = 35
)

// offer pings, and posts the lead where there is a bid; false: the context has
// ended. A bid that is over when the exchange is back is let go.
func (c *Crowd) offer(ctx context.Context, call *caller, name string, chance *rand.Rand) bool {
	person := c.order("", chance, (*campaignTerms).auctions)
	campaign := c.terms.campaign(person.campaign)
	ping := &order{path: pathPing, key: "ping-" + name, campaign: campaign.id, test: c.isTest(chance), body: encode(object{
		"auction_id": name, "vertical": campaign.vertical, "state": "CA", "zip3": "941", "tcpa_consent": true,
	})}
	a, ok := call.send(ctx, ping)
	if !ok {
		return false
	}
	heard := c.ledger.enter(ping, a)
	if heard == nil || heard.bid == 0 {
		return true
	}
	if ping.test && !c.bring(ctx, call, &c.ledger, c.mistaken(ping, tokenIn(a.Text), chance)) {
		return false
	}
	rivals := []*order{c.post(ping, "", tokenIn(a.Text), person)}
	if chance.IntN(100) < rivalShare {
		rivals = append(rivals, c.post(ping, rivalMark, tokenIn(a.Text), c.order("", chance, (*campaignTerms).auctions)))
		rivals[0].rival, rivals[1].rival = true, true
	}
	return c.race(ctx, call, rivals)
}

// mistaken is a lead in earnest for the bid of a test, which is no bid to it.
func (c *Crowd) mistaken(ping *order, token string, chance *rand.Rand) *order {
	post := c.post(ping, "-mistaken", token, c.order("", chance, (*campaignTerms).auctions))
	post.test, post.foreign = false, true
	return post
}

// rivalShare of the bids, in percent, get two leads at once, of two people. One at
// most is sold; where the buyer refuses the first the second may be.
const (
	rivalShare = 15
	rivalMark  = "-rival"
)

func (c *Crowd) post(ping *order, mark, token string, person *order) *order {
	name := strings.TrimPrefix(ping.key, "ping-")
	post := &order{path: pathPost, key: "post-" + name + mark, campaign: ping.campaign, test: ping.test, phone: person.phone, email: person.email}
	post.body = encode(object{"auction_id": name, "bid_token": token, "lead": object{
		"lead_uuid": "of " + name + mark, "first_name": "Ann", "last_name": "Example", "phone": person.phone, "email": person.email,
		"address": object{"state": "CA"}, "tcpa": object{},
	}})
	return post
}

// offerOf is the name under which a ping or a post was made.
func offerOf(key string) string {
	_, name, _ := strings.Cut(key, "-")
	return strings.TrimSuffix(name, rivalMark)
}

// race sends posts at the same time, until each is answered.
func (c *Crowd) race(ctx context.Context, call *caller, posts []*order) bool {
	answered := make(chan bool, len(posts))
	for i, post := range posts {
		alone := *call.Caller
		alone.chance = rand.New(rand.NewPCG(call.chance.Uint64(), uint64(i)))
		one := caller{&alone, call.token}
		go func() {
			a, ok := one.send(ctx, post)
			if ok {
				c.ledger.enter(post, a)
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

func encode(value object) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

// bidOf is what a ping was answered.
type bidOf struct {
	Bid *struct {
		Amount market.Money `json:"amount"`
		Token  string       `json:"bid_token"`
	} `json:"bid"`
	Reason string `json:"reject_reason"`
}

func tokenIn(text string) string {
	var said bidOf
	if json.Unmarshal([]byte(text), &said) != nil || said.Bid == nil {
		return ""
	}
	return said.Bid.Token
}

func (t *told) readPing() error {
	var said bidOf
	if err := json.Unmarshal([]byte(t.Text), &said); err != nil {
		return err
	}
	switch {
	case said.Bid != nil && said.Bid.Amount > 0 && said.Bid.Token != "":
		t.bid = said.Bid.Amount
	case said.Bid != nil || said.Reason == "":
		return errors.New("neither a bid nor a reason for none")
	default:
		t.said.Data.Reason = said.Reason
	}
	return nil
}

// readRefusal reads why a post was not sold. That a bid has run out, or was taken
// up by a rival, is nothing that is kept; what a fact says is.
func (t *told) readRefusal() (final bool, err error) {
	var said struct {
		Error  string `json:"error"`
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal([]byte(t.Text), &said); err != nil {
		return false, err
	}
	switch {
	case t.foreign:
		if t.Status != http.StatusUnprocessableEntity || said.Error != "invalid_bid_token" {
			return false, errors.New("that bid is none for a lead in earnest")
		}
		return false, nil
	case t.Status == http.StatusGone && said.Error == "bid_expired", t.Status == http.StatusConflict && said.Error == "already_sold" && t.rival:
		return false, nil
	case t.Status == http.StatusUnprocessableEntity && said.Error == "post_rejected":
		t.refused, t.said.Data.Reason = true, said.Reason
		return true, nil
	}
	return false, errors.New("no answer to such a post")
}

// token is a client's, good for the whole run: it outlives the exchange's lives.
func (x *Exchange) token(id string, scopes ...string) string {
	x.t.Helper()
	config := clientcredentials.Config{ClientID: id, ClientSecret: clientSecret, Scopes: scopes, TokenURL: x.door.find(x.t.Context()) + "/oauth/token"}
	granted, err := config.Token(x.t.Context())
	if err != nil {
		x.t.Fatal(err)
	}
	return granted.AccessToken
}
