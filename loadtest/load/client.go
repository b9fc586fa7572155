package load

import (
	"bytes"
	"fmt"
)

// Client handles the arrivals of one connection: it sends a lead, or holds an auction. Only one
// goroutine may use it.
type Client struct {
	AppendRequest func(dst []byte, n uint64) []byte               // lead n, or the ping of auction n
	IsGood        func(Answer) bool                               // reports whether the answer is as required
	AppendPost    func(dst []byte, n uint64, token []byte) []byte // sells the lead for the bid; nil: no post

	Result

	request, token []byte
}

// NewSupplier returns a client that sends leads.
func NewSupplier(requests Ingest) *Client {
	return &Client{AppendRequest: requests.Append, IsGood: Accepted, Result: NewResult()}
}

// NewSeller returns a client that pings, and with sellBids posts to the winner at once.
func NewSeller(requests Auctions, sellBids bool) *Client {
	c := &Client{AppendRequest: requests.AppendPing, IsGood: HasBid, Result: NewResult()}
	if sellBids {
		c.AppendPost = requests.AppendPost
	}
	return c
}

// NewPublisher returns a client that holds auctions in OpenRTB. An answer is good if it has a bid of each bidder.
func NewPublisher(requests OpenRTB) *Client {
	isGood := func(a Answer) bool { return a.Status == 200 && bytes.Count(a.Body, openRTBSeat) == requests.Bidders }
	return &Client{AppendRequest: requests.Append, IsGood: isGood, Result: NewResult()}
}

var (
	openRTBSeat = []byte(`"seat":"` + OpenRTBBidder)

	accepted = []byte(`"ACCEPTED"`)
	bidHead  = []byte(`"bid":{`)
	tokenKey = []byte(`"bid_token":"`)
	leadKey  = []byte(`"lead_id":"`)
	quote    = []byte(`"`)
)

// Accepted reports whether the answer to a lead is ACCEPTED.
func Accepted(a Answer) bool { return a.Status == 201 && bytes.Contains(a.Body, accepted) }

// HasBid reports whether the answer to a ping has a bid.
func HasBid(a Answer) bool { return a.Status == 200 && bytes.Contains(a.Body, bidHead) }

// Handle sends the lead of an arrival, or holds its auction.
func (c *Client) Handle(conn *Conn, at Arrival) {
	c.request = c.AppendRequest(c.request[:0], at.Number)
	c.Sent++
	first, ok := c.send(conn, c.IsGood)
	if !ok {
		return
	}
	last, size := first.Received, uint64(len(first.Body))
	if c.AppendPost != nil {
		c.token = append(c.token[:0], textAfter(first.Body, tokenKey)...)
		c.request = c.AppendPost(c.request[:0], at.Number, c.token)
		post, ok := c.send(conn, func(a Answer) bool { return a.Status == 201 })
		if !ok {
			return
		}
		last = post.Received
		c.Posted = append(c.Posted, Posted{string(textAfter(post.Body, leadKey)), post.Sent.UnixNano(), at.Measured})
		if at.Measured {
			recordLatency(c.Posts, post.Received.Sub(post.Sent))
		}
	}
	if !at.Measured {
		return
	}
	c.Done++
	c.Bytes += size
	recordLatency(c.Latency, first.Received.Sub(at.Due))
	if last.Sub(at.Due) > MaxSaleTime {
		c.Late++
	}
}

// send sends the prepared request. ok is false if its answer is not good, which it counts.
func (c *Client) send(conn *Conn, isGood func(Answer) bool) (answer RoundTrip, ok bool) {
	answer, err := conn.Do(c.request)
	if err == nil && isGood(answer.Answer) {
		return answer, true
	}
	path, _, _ := bytes.Cut(c.request[len("POST "):], []byte(" "))
	switch {
	case err != nil:
		c.addFailure(&c.Broken, fmt.Sprintf("%s: %v", path, err))
	case answer.Status == 200:
		c.addFailure(&c.NoBid, fmt.Sprintf("%s: %s", path, answer.Body))
	default:
		c.addFailure(&c.Refused, fmt.Sprintf("%s: status %d: %s", path, answer.Status, answer.Body))
	}
	return answer, false
}

// textAfter returns the JSON string, without escapes, that follows a member's key.
func textAfter(body, key []byte) []byte {
	_, rest, _ := bytes.Cut(body, key)
	text, _, _ := bytes.Cut(rest, quote)
	return text
}
