//go:build unix

package history

import (
	"net/http"

	"github.com/anishathalye/porcupine"
)

// keyState is the state of an idempotency key.
type keyState struct {
	decided   bool
	variant   int    // body of the decided request
	text      string // answer; "": no client has seen it yet
	requestID string
}

// keyModel is the specification of an idempotency key: the first request decides, its repeats get the same
// answer, and a request with another body is rejected.
var keyModel = porcupine.Model{
	Partition: partitionBy(func(r *request) string { return r.key }),
	Init:      func() any { return keyState{} },
	Step: func(state, input, output any) (bool, any) {
		s, r, a := state.(keyState), input.(*request), output.(*answer)
		switch {
		case !a.isKnown:
			if !s.decided {
				s = keyState{decided: true, variant: r.variant}
			}
			return true, s
		case a.status == http.StatusUnprocessableEntity && a.Error == "idempotency_key_reused":
			return s.decided && s.variant != r.variant, s
		case a.status != http.StatusCreated && a.status != http.StatusOK:
			return false, s
		case a.replayed != s.decided:
			return false, s
		case s.text != "":
			return s.variant == r.variant && s.text == a.text && s.requestID == a.requestID, s
		}
		if s.decided && s.variant != r.variant {
			return false, s
		}
		return true, keyState{decided: true, variant: r.variant, text: a.text, requestID: a.requestID}
	},
	DescribeOperation: describeStep,
}

// keyOperations returns the attempts of all requests whose first answer is final.
func keyOperations(all []operation) []operation {
	return mergeUnknown(selectOperations(all, func(o *operation) bool { return o.key != "" && o.kind != post }))
}
