package main

import (
	"fmt"
	"regexp"
	"strings"

	"pingpost/fuzz/powerloss/strace"
)

// backupRound is the exchange's report on its backup, in its metrics: the start time of the
// last round that backed up everything.
type backupRound struct {
	tick      int
	startedAt string // as printed; only compared for equality
}

var (
	metricPrefix = "\npingpost_"
	lastSuccess  = regexp.MustCompile(`(?m)^pingpost_backup_last_success_timestamp_seconds (\S+)\n`)
)

// parseBackupRounds returns the reports among the calls of a lifetime.
func parseBackupRounds(calls []*strace.Call) (found []backupRound, err error) {
	for _, c := range calls {
		sent, err := bytesSentToSocket(c)
		if err != nil {
			return nil, err
		}
		if said := lastSuccess.FindSubmatch(sent); said != nil {
			found = append(found, backupRound{c.Enter, string(said[1])})
		}
	}
	return found, nil
}

// bytesSentToSocket returns the bytes that a call sends to a socket, or nil.
func bytesSentToSocket(c *strace.Call) ([]byte, error) {
	switch c.Name {
	case "write", "writev", "sendto", "sendmsg":
	default:
		return nil, nil
	}
	if !writesToSocket(c) {
		return nil, nil
	}
	text, err := c.SentBytes()
	if err != nil && c.Torn {
		text, err = nil, nil // torn: the exchange may not have sent it
	}
	if err != nil {
		return nil, fmt.Errorf("tick %d: %w", c.Enter, err)
	}
	return text, nil
}

func writesToSocket(c *strace.Call) bool {
	_, path, err := c.Descriptor(0)
	return err == nil && strings.HasPrefix(path, "socket:")
}

// lastBackedUpTick returns the last tick with all its acks in the backup, according to a report up
// to the given tick. It returns 0 if there is none.
//
// A round that a report shows after a tick may have started before it and read the log too
// early. The next round has not: it started after the first one ended. Each report is requested
// after the previous answer, so each ack before a report is durable at the next report.
func lastBackedUpTick(reports []backupRound, tick int) int {
	for len(reports) > 0 && reports[len(reports)-1].tick > tick {
		reports = reports[:len(reports)-1]
	}
	changes := 0
	for i := len(reports) - 2; i > 0; i-- {
		if reports[i].startedAt != reports[i+1].startedAt {
			changes++
		}
		if changes == 2 {
			return reports[i-1].tick
		}
	}
	return 0
}
