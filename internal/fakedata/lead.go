package fakedata

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"pingpost/engine/market"
)

// Request says what leads to make. Equal requests give equal leads, and one for
// fewer gives the first ones of one for more.
type Request struct {
	Count    int
	Vertical string       // any label; see VerticalOf
	State    market.State // one that is one
	Seed     int64
}

// Lead is somebody who asked for offers.
type Lead struct {
	Person
	UUID        string
	Vertical    string
	Source      string
	Consent     bool // may be called
	Certificate string
	IP          string
	Asked       time.Time
	Quality     int     // hundredths, 0 to 100
	Fields      []Field // of the vertical
}

// began is the first day on which anybody asks. Which of the ninety days from
// then on a run begins on is up to its seed.
var began = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

const (
	mailHost      = "example.com"
	mailboxBlocks = 90 // of a thousand mailboxes; a run has one block
)

// One in five came by the network whose leads exchanges commonly want proof of
// consent from.
var sources = []string{"search", "search", "partner", "email", "facebook"}

// Make makes the leads. A phone number comes again only when all of the state's
// have come, a hundred for each of its area codes; an e-mail address never does.
func Make(req Request) []Lead {
	place, vertical := PlaceOf(req.State), VerticalOf(req.Vertical)
	r := rand.New(rand.NewPCG(uint64(req.Seed), labelled(req.Vertical, place.State)))
	turn := r.IntN(place.Numbers())
	mailbox := 1 + 1000*r.IntN(mailboxBlocks)
	asked := began.Add(time.Duration(r.IntN(90*24*60*60)) * time.Second)
	leads := make([]Lead, req.Count)
	for i := range leads {
		asked = asked.Add(time.Duration(5+r.IntN(175)) * time.Second)
		leads[i] = Lead{
			Person: place.Somebody(r, turn+i, mailbox+i, mailHost),
			UUID:   uuid(r), Vertical: req.Vertical, Source: Pick(r, sources), Consent: Chance(r, 950),
			Certificate: fmt.Sprintf("https://consent.example.com/c/%016x", r.Uint64()),
			IP:          Pick(r, networks) + fmt.Sprint(1+r.IntN(254)),
			Asked:       asked, Quality: r.IntN(101), Fields: vertical.Fields(r, asked),
		}
	}
	return leads
}

// networks are kept for documentation.
var networks = []string{"192.0.2.", "198.51.100.", "203.0.113."}

// labelled makes runs of other verticals and states other runs.
func labelled(vertical, state string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(state + vertical))
	return h.Sum64()
}

// uuid is one of version 4, but for where its chance comes from.
func uuid(r *rand.Rand) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], r.Uint64())
	binary.BigEndian.PutUint64(b[8:], r.Uint64())
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
