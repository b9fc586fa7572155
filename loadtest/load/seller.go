package load

import (
	"bytes"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Seller handles the arrivals of one connection in an open loop of auctions. It pings, and
// with SellBids it posts to the winner at once. Only one goroutine may use it.
type Seller struct {
	Requests Auctions
	SellBids bool

	Sales

	request, token []byte
}

// Sales counts the outcomes of a seller's auctions. Each measured arrival counts in
// Auctions and in one of Sold, NoBid, Refused and Broken. Without SellBids, a bid counts
// as Sold.
type Sales struct {
	Auctions, Sold, NoBid, Refused, Broken uint64

	Late       uint64                  // sold later than MaxSaleTime after the due time
	FirstError string                  // first failure
	Bids       *hdrhistogram.Histogram // from the ping's due time to the bid
	Posts      *hdrhistogram.Histogram // from sending a post to the answer
	Posted     []Posted                // including the warm-up
}

// Posted is a lead that was sold according to the exchange.
type Posted struct {
	Lead     string // the buyer's lead id
	Sent     int64  // time of the post in Unix nanoseconds
	Measured bool
}

// MaxSaleTime is the longest acceptable time for ping and post together.
const MaxSaleTime = 5 * time.Second

// NewSales returns empty counts.
func NewSales() Sales { return Sales{Bids: newHistogram(), Posts: newHistogram()} }

var (
	bidHead  = []byte(`"bid":{`)
	tokenKey = []byte(`"bid_token":"`)
	leadKey  = []byte(`"lead_id":"`)
	quote    = []byte(`"`)
)

// HasBid reports whether the answer to a ping has a bid.
func HasBid(a Answer) bool { return a.Status == 200 && bytes.Contains(a.Body, bidHead) }

// Handle runs one auction.
func (s *Seller) Handle(line *Conn, at Arrival) {
	var now Sales
	s.request = s.Requests.AppendPing(s.request[:0], at.Number)
	ping, err := line.Do(s.request)
	last := ping.Received
	switch {
	case err != nil:
		now.Broken, now.FirstError = 1, err.Error()
	case ping.Status != 200:
		now.Refused, now.FirstError = 1, fmt.Sprintf("ping: status %d: %s", ping.Status, ping.Body)
	case !HasBid(ping.Answer):
		now.NoBid, now.FirstError = 1, fmt.Sprintf("ping: %s", ping.Body)
	case s.SellBids:
		s.token = append(s.token[:0], textAfter(ping.Body, tokenKey)...)
		last = s.post(line, at, &now)
	default:
		now.Sold = 1
	}
	if !at.Measured {
		s.Posted = append(s.Posted, now.Posted...)
		return
	}
	now.Auctions = 1
	if now.Sold == 1 {
		recordLatency(s.Bids, ping.Received.Sub(at.Due))
		if last.Sub(at.Due) > MaxSaleTime {
			now.Late = 1
		}
	}
	s.count(&now)
}

// post sells the lead and returns the time of the answer.
func (s *Seller) post(line *Conn, at Arrival, now *Sales) time.Time {
	s.request = s.Requests.AppendPost(s.request[:0], at.Number, s.token)
	post, err := line.Do(s.request)
	switch {
	case err != nil:
		now.Broken, now.FirstError = 1, err.Error()
	case post.Status != 201:
		now.Refused, now.FirstError = 1, fmt.Sprintf("post: status %d: %s", post.Status, post.Body)
	default:
		now.Sold = 1
		now.Posted = []Posted{{string(textAfter(post.Body, leadKey)), post.Sent.UnixNano(), at.Measured}}
		if at.Measured {
			recordLatency(s.Posts, post.Received.Sub(post.Sent))
		}
	}
	return post.Received
}

// textAfter returns the JSON string, without escapes, that follows a member's key.
func textAfter(body, key []byte) []byte {
	_, rest, _ := bytes.Cut(body, key)
	text, _, _ := bytes.Cut(rest, quote)
	return text
}

func recordLatency(h *hdrhistogram.Histogram, took time.Duration) {
	if err := h.RecordValue(min(int64(took), int64(time.Minute))); err != nil {
		panic("BUG: a latency that no histogram has room for: " + err.Error())
	}
}

// count adds the counts of other, without its histograms.
func (s *Sales) count(other *Sales) {
	s.Auctions += other.Auctions
	s.Sold += other.Sold
	s.NoBid += other.NoBid
	s.Refused += other.Refused
	s.Broken += other.Broken
	s.Late += other.Late
	if s.FirstError == "" {
		s.FirstError = other.FirstError
	}
	s.Posted = append(s.Posted, other.Posted...)
}

// Add adds the sales of another connection.
func (s *Sales) Add(other *Sales) {
	s.count(other)
	s.Bids.Merge(other.Bids)
	s.Posts.Merge(other.Posts)
}
