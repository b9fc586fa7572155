//go:build unix

package history

import (
	"net/http"

	"github.com/anishathalye/porcupine"
)

// auctionState is the state of an auction.
type auctionState struct {
	key  string // of the post that sold its lead; "": not sold
	text string // answer to that post; "": no client has seen it yet
}

// auctionModel is the specification of an auction: it sells one lead, the key of that post always gets
// the same answer, and other posts get already_sold from then on.
var auctionModel = porcupine.Model{
	Partition: partitionBy(func(r *request) string { return r.auction }),
	Init:      func() any { return auctionState{} },
	Step: func(state, input, output any) (bool, any) {
		s, r, a := state.(auctionState), input.(*request), output.(*answer)
		switch {
		case !a.isKnown:
			if s.key == "" {
				s.key = r.key
			}
			return true, s
		case a.status == http.StatusCreated && (s.key == "" || s.key == r.key):
			return s.text == "" || s.text == a.text, auctionState{r.key, a.text}
		case a.status == http.StatusConflict && a.Error == "already_sold":
			return s.key != "" && s.key != r.key, s
		case a.status == http.StatusGone && a.Error == "bid_expired":
			return s.key == "", s
		}
		return false, s
	},
	DescribeOperation: describeStep,
}

func auctionOperations(all []operation) []operation {
	return mergeUnknown(selectOperations(all, func(o *operation) bool { return o.kind == post }))
}
