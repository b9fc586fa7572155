package commitqueue

import (
	"fmt"
	"testing"
)

// script records the calls to the waiters of a batch, in order.
type script struct{ lines []string }

// actor is a waiter that prepares.
type actor struct {
	script *script
	name   int
}

func (a *actor) Prepare() { a.script.lines = append(a.script.lines, fmt.Sprint("prepare ", a.name)) }

func (a *actor) Failed(error) {
	a.script.lines = append(a.script.lines, fmt.Sprint("failed ", a.name))
}

func (a *actor) Committed(seq uint64, at int64) {
	a.script.lines = append(a.script.lines, fmt.Sprint("committed ", a.name, " as ", seq, " at ", at))
}

// plain is a waiter without Prepare.
type plain struct{ *actor }

func (plain) Prepare(notAsAWaiterDoes int) {}

func TestPrepareRunsBeforeCommitted(t *testing.T) {
	const first, at = 70, 9
	for _, n := range []int{0, 1, prepareGroup - 1, prepareGroup, prepareGroup + 1, 3*prepareGroup + 2} {
		var heard, want script
		var batch []Entry
		for i := range n {
			batch = append(batch, Entry{Waiter: &actor{&heard, i}})
		}
		for from := 0; from < n; from += prepareGroup {
			for i := from; i < min(from+prepareGroup, n); i++ {
				(&actor{&want, i}).Prepare()
			}
			for i := from; i < min(from+prepareGroup, n); i++ {
				(&actor{&want, i}).Committed(first+uint64(i), at)
			}
		}
		NotifyCommitted(batch, first, at)
		equal(t, fmt.Sprintf("what %d waiters hear", n), heard.lines, want.lines)
	}
}

func TestWaiterAndPrepareAreOptional(t *testing.T) {
	var heard script
	NotifyCommitted([]Entry{{Waiter: plain{&actor{&heard, 1}}}, {}, {Waiter: &actor{&heard, 3}}}, 4, 5)
	equal(t, "what was heard", heard.lines, []string{"prepare 3", "committed 1 as 4 at 5", "committed 3 as 6 at 5"})
}
