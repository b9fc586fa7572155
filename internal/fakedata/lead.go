package fakedata

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"pingpost/engine/market"
)

// LeadSeriesOptions describe a series of made-up leads. Equal options give equal leads. A smaller Count
// gives the first leads of the same series.
type LeadSeriesOptions struct {
	Count    int
	Vertical string         // any label; see VerticalOf
	State    market.USState // not NoState
	Seed     int64
}

// Lead is a made-up person who asked for offers, with the data that a supplier would send.
type Lead struct {
	Person
	UUID        string
	Vertical    string
	Source      string
	Consent     bool // the person agreed to be called
	Certificate string
	IP          string
	Asked       time.Time
	Quality     int     // hundredths, 0 to 100
	Fields      []Field // of the vertical
}

// firstDay is the earliest day on which the first lead of a series asks for offers. The seed
// selects one of the ninety days from then on.
var firstDay = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

const (
	mailHost      = "example.com"
	mailboxBlocks = 90 // of a thousand mailboxes; a series uses one block
)

// sources are the possible values of a lead's source field. One of the five is facebook, for
// which exchanges commonly require proof of consent.
var sources = []string{"search", "search", "partner", "email", "facebook"}

// MakeLeads returns the leads that the request describes. A phone number repeats only after all
// numbers of the state were used (a hundred for each area code). E-mail addresses never repeat in
// one series.
func MakeLeads(req LeadSeriesOptions) []Lead {
	place, vertical := MustDataOfUSState(req.State), VerticalOf(req.Vertical)
	r := rand.New(rand.NewPCG(uint64(req.Seed), seedFromLabels(req.Vertical, place.State)))
	phone := r.IntN(place.PhoneCount())
	mailbox := 1 + 1000*r.IntN(mailboxBlocks)
	asked := firstDay.Add(time.Duration(r.IntN(90*24*60*60)) * time.Second)
	leads := make([]Lead, req.Count)
	for i := range leads {
		asked = asked.Add(time.Duration(5+r.IntN(175)) * time.Second)
		leads[i] = Lead{
			Person: place.MakePerson(r, phone+i, mailbox+i, mailHost),
			UUID:   randomUUID(r), Vertical: req.Vertical, Source: Pick(r, sources), Consent: Chance(r, 950),
			Certificate: fmt.Sprintf("https://consent.example.com/c/%016x", r.Uint64()),
			IP:          Pick(r, networks) + fmt.Sprint(1+r.IntN(254)),
			Asked:       asked, Quality: r.IntN(101), Fields: vertical.RandomFields(r, asked),
		}
	}
	return leads
}

// networks are the beginnings of the leads' IP addresses. These networks are reserved for
// documentation.
var networks = []string{"192.0.2.", "198.51.100.", "203.0.113."}

// seedFromLabels returns a number that depends on the vertical and the state. It makes their
// series of leads differ even with the same seed.
func seedFromLabels(vertical, state string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(state + vertical))
	return h.Sum64()
}

// randomUUID returns a UUID of version 4 whose random bits come from r.
func randomUUID(r *rand.Rand) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], r.Uint64())
	binary.BigEndian.PutUint64(b[8:], r.Uint64())
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
