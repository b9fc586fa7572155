package main

import (
	"fmt"
	"regexp"
	"strings"

	"pingpost/fuzz/powerloss/strace"
)

// A round is the exchange's word on its backup, in its metrics: when the last round
// began in which all that there was has been shipped.
type round struct {
	tick  int
	began string // as it is written; it is never counted with
}

var (
	anyMetric = "\npingpost_"
	lastRound = regexp.MustCompile(`(?m)^pingpost_backup_last_success_timestamp_seconds (\S+)\n`)
)

// rounds finds them among a life's calls.
func rounds(calls []*strace.Call) (found []round, err error) {
	for _, c := range calls {
		sent, err := sent(c)
		if err != nil {
			return nil, err
		}
		if said := lastRound.FindSubmatch(sent); said != nil {
			found = append(found, round{c.Enter, string(said[1])})
		}
	}
	return found, nil
}

// sent is what a call sends to somebody; nil: it is none that does.
func sent(c *strace.Call) ([]byte, error) {
	switch c.Name {
	case "write", "writev", "sendto", "sendmsg":
	default:
		return nil, nil
	}
	if !toSocket(c) {
		return nil, nil
	}
	text, err := c.Sent()
	if err != nil && c.Torn {
		text, err = nil, nil // nobody knows that it was sent
	}
	if err != nil {
		return nil, fmt.Errorf("tick %d: %w", c.Enter, err)
	}
	return text, nil
}

func toSocket(c *strace.Call) bool {
	_, path, err := c.Descriptor(0)
	return err == nil && strings.HasPrefix(path, "socket:")
}

// shippedUpTo is the last tick up to which, as was said by another, all that was told
// is in the backup; zero: there is none.
//
// A round that is told of after a tick may have begun before it, and have read the
// log too early. The one after that has not: it began when the other had ended. Each
// word is asked for when the one before has come, so what was told before one is
// durable at the next.
func shippedUpTo(said []round, tick int) int {
	for len(said) > 0 && said[len(said)-1].tick > tick {
		said = said[:len(said)-1]
	}
	changes := 0
	for i := len(said) - 2; i > 0; i-- {
		if said[i].began != said[i+1].began {
			changes++
		}
		if changes == 2 {
			return said[i-1].tick
		}
	}
	return 0
}
