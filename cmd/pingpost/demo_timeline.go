package main

import (
	"fmt"
	"strings"
	"time"

	"pingpost/engine/market"
)

// timeline is an auction, and where its lead went, to be drawn.
type timeline struct {
	id    string
	story string         // what came of it, in words
	lasts time.Duration  // until it was decided
	asked []askedBuyer   // in the order in which they are shown
	posts []timelinePost // one after the other
}

// askedBuyer is one that was pinged.
type askedBuyer struct {
	name    string
	outcome string
	elapsed time.Duration // until it had answered, or its time was over
	amount  market.Money  // that it bid; zero: none that can be told
}

// timelinePost is a lead brought to a buyer.
type timelinePost struct {
	buyer, came string
	from, until time.Duration // since the auction began
}

// timelineWidth is how many characters of a line are time.
const timelineWidth = 32

// String draws the auction for 80 columns: each buyer's time to its answer from
// the left, then the post's.
func (l *timeline) String() string {
	whole := l.lasts
	for i := range l.asked {
		whole = max(whole, l.asked[i].elapsed)
	}
	for i := range l.posts {
		whole = max(whole, l.posts[i].until)
	}
	whole = max(whole, time.Millisecond)
	t := table{indent: "    "}
	t.row("", "bid", "ms", "", "0 ms"+strings.Repeat(" ", timelineWidth-4)+fmt.Sprint(whole.Milliseconds()))
	for i := range l.asked {
		b := &l.asked[i]
		bid := ""
		if b.amount != 0 {
			bid = amount(b.amount)
		}
		t.row(b.name, bid, fmt.Sprint(b.elapsed.Milliseconds()), b.outcome, bar(0, b.elapsed, whole, '-'))
	}
	for i := range l.posts {
		p := &l.posts[i]
		t.row("to "+p.buyer, "", fmt.Sprint((p.until - p.from).Milliseconds()), p.came, bar(p.from, p.until, whole, '='))
	}
	return "  " + l.id + "\n  " + l.story + "\n" + t.String()
}

// bar is a stretch of the whole, one character long at least.
func bar(from, until, whole time.Duration, mark rune) string {
	at := func(d time.Duration) int {
		return int(min(max(d, 0), whole) * timelineWidth / whole)
	}
	begin := min(at(from), timelineWidth-1)
	return "|" + strings.Repeat(" ", begin) + strings.Repeat(string(mark), max(1, at(until)-begin))
}
