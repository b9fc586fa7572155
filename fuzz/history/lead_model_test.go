//go:build unix

package history

import (
	"net/http"

	"github.com/anishathalye/porcupine"
)

// leadModel is the specification of a lead whose sale a client knows: each later lookup finds it, with
// the status of the last return. Its state tells whether the lead was returned.
var leadModel = porcupine.Model{
	Partition: partitionBy(func(r *request) string { return r.lead }),
	Init:      func() any { return false },
	Step: func(state, input, output any) (bool, any) {
		returned, r, a := state.(bool), input.(*request), output.(*answer)
		if r.kind == returnLead {
			return !a.isKnown || a.status == http.StatusOK, true
		}
		want := "ACCEPTED"
		if returned {
			want = "returned"
		}
		return a.status == http.StatusOK && a.Data.Status == want, returned
	},
	DescribeOperation: describeStep,
}

func leadOperations(all []operation) []operation {
	return mergeKeys(selectOperations(all, func(o *operation) bool {
		return o.kind == returnLead || o.kind == lookup && o.isKnown
	}))
}
