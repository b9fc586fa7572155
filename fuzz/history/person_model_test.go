//go:build unix

package history

import "github.com/anishathalye/porcupine"

// personModel is the specification of the duplicate check: a person is sold once, and all other leads of
// the person are duplicates. Its state tells whether the person was sold.
var personModel = porcupine.Model{
	Partition: partitionBy(func(r *request) string { return r.person }),
	Init:      func() any { return false },
	Step: func(state, _, output any) (bool, any) {
		sold, a := state.(bool), output.(*answer)
		switch {
		case !a.isKnown || !sold && a.isAccepted():
			return true, true
		case sold:
			return a.Data.Status == "UNMATCHED" && a.Data.Reason == "duplicate", true
		}
		return false, sold
	},
	DescribeOperation: describeStep,
}

func personOperations(all []operation) []operation {
	return mergeKeys(selectOperations(all, func(o *operation) bool { return o.person != "" }))
}
