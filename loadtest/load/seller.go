package load

import (
	"bytes"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Seller is one line's work in an open loop of auctions: it pings, and where it
// was told to sell, posts to the winner at once. One goroutine uses it.
type Seller struct {
	Requests Auctions
	Sells    bool

	Sales

	request, token []byte
}

// Sales are what became of a seller's auctions. Every arrival that is measured
// is in Auctions and in one of Sold, NoBid, Refused and Broken; without selling,
// a bid is as good as a sale.
type Sales struct {
	Auctions, Sold, NoBid, Refused, Broken uint64

	Late    uint64                  // of the sold: over Ceiling from when they were due to the last answer
	Trouble string                  // the first that was not sold, in words
	Bids    *hdrhistogram.Histogram // from when a ping was due to the bid
	Posts   *hdrhistogram.Histogram // from when a post was sent to the answer
	Posted  []Posted                // also of the warm-up
}

// Posted is a lead that the exchange says it has sold.
type Posted struct {
	Lead     string // the buyer's id of it
	Sent     int64  // when the post was, Unix nanoseconds
	Measured bool
}

// Ceiling is how long ping and post may take together.
const Ceiling = 5 * time.Second

// NewSales has counted nothing yet.
func NewSales() Sales { return Sales{Bids: newHistogram(), Posts: newHistogram()} }

var (
	bidHead  = []byte(`"bid":{`)
	tokenKey = []byte(`"bid_token":"`)
	leadKey  = []byte(`"lead_id":"`)
	quote    = []byte(`"`)
)

// HasBid tells whether an answer to a ping is a bid.
func HasBid(a Answer) bool { return a.Status == 200 && bytes.Contains(a.Body, bidHead) }

// Visit holds one auction.
func (s *Seller) Visit(line *Line, at Arrival) {
	var now Sales
	s.request = s.Requests.AppendPing(s.request[:0], at.Number)
	ping, err := line.Ask(s.request)
	last := ping.Came
	switch {
	case err != nil:
		now.Broken, now.Trouble = 1, err.Error()
	case ping.Status != 200:
		now.Refused, now.Trouble = 1, fmt.Sprintf("ping: status %d: %s", ping.Status, ping.Body)
	case !HasBid(ping.Answer):
		now.NoBid, now.Trouble = 1, fmt.Sprintf("ping: %s", ping.Body)
	case s.Sells:
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
		record(s.Bids, ping.Came.Sub(at.Due))
		if last.Sub(at.Due) > Ceiling {
			now.Late = 1
		}
	}
	s.count(&now)
}

// post sells the lead and gives the time of the answer.
func (s *Seller) post(line *Line, at Arrival, now *Sales) time.Time {
	s.request = s.Requests.AppendPost(s.request[:0], at.Number, s.token)
	post, err := line.Ask(s.request)
	switch {
	case err != nil:
		now.Broken, now.Trouble = 1, err.Error()
	case post.Status != 201:
		now.Refused, now.Trouble = 1, fmt.Sprintf("post: status %d: %s", post.Status, post.Body)
	default:
		now.Sold = 1
		now.Posted = []Posted{{string(textAfter(post.Body, leadKey)), post.Sent.UnixNano(), at.Measured}}
		if at.Measured {
			record(s.Posts, post.Came.Sub(post.Sent))
		}
	}
	return post.Came
}

// textAfter is the JSON string, without escapes, whose member begins as key.
func textAfter(body, key []byte) []byte {
	_, rest, _ := bytes.Cut(body, key)
	text, _, _ := bytes.Cut(rest, quote)
	return text
}

func record(h *hdrhistogram.Histogram, took time.Duration) {
	if err := h.RecordValue(min(int64(took), int64(time.Minute))); err != nil {
		panic("BUG: a latency that no histogram has room for: " + err.Error())
	}
}

// count adds the counts of other; its histograms are left out.
func (s *Sales) count(other *Sales) {
	s.Auctions += other.Auctions
	s.Sold += other.Sold
	s.NoBid += other.NoBid
	s.Refused += other.Refused
	s.Broken += other.Broken
	s.Late += other.Late
	if s.Trouble == "" {
		s.Trouble = other.Trouble
	}
	s.Posted = append(s.Posted, other.Posted...)
}

// Add adds what another line has counted.
func (s *Sales) Add(other *Sales) {
	s.count(other)
	s.Bids.Merge(other.Bids)
	s.Posts.Merge(other.Posts)
}
