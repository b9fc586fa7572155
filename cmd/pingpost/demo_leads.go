package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"iter"
	"slices"
	"strings"

	"pingpost/loadtest/leads"
	"pingpost/server/webhook/signature"
)

// demoSet is all that is made up before anything is started.
type demoSet struct {
	leads      []leads.Lead // that are sent to be sold
	offers     []leads.Lead // that the seller pings for, and posts; good ones, of one campaign
	buyers     []*demoBuyer
	suppressed []byte // file of the suppression list
	apiKey     string
	password   string
	token      string
	secret     string // of the seller's OAuth client
	hookSecret string // that signs what the supplier hears
	hooks      string // where it hears that, once it runs

	sandboxToken string
}

// Of a thousand leads, so many are wrong, and so many repeat a person; one in
// listedEvery is on the suppression list.
const (
	demoMistakes = 35
	demoRepeats  = 45
	listedEvery  = 40
	listNoise    = 5000
)

// offerEvery is for how many leads that are sent the seller offers one.
const offerEvery = 10

func newDemoSet(n int, seed uint64) *demoSet {
	opt := leads.Options{Seed: seed, Supplier: demoSupplier, Mistakes: demoMistakes, Repeats: demoRepeats}
	for i := range demoCampaigns {
		opt.Campaigns = append(opt.Campaigns, demoCampaigns[i].Campaign)
	}
	source := leads.New(opt)
	set := &demoSet{
		leads: source.Take(n), buyers: demoBuyers(),
		apiKey: "key_" + randomText(), password: randomText(), token: randomText(), secret: randomText(),
		sandboxToken: randomText(), hookSecret: signature.Prefix + base64.StdEncoding.EncodeToString([]byte(randomText())),
	}
	for len(set.offers) < max(1, n/offerEvery) {
		next := source.Next()
		if next.Campaign == demoAuctions && next.Mistake == leads.None && !next.Repeat && next.State != "" {
			set.offers = append(set.offers, next)
		}
	}
	set.suppressed = suppressionFile(append(set.leads[:n:n], set.offers...), seed)
	return set
}

// suppressionFile has hashes of phone numbers, in no order: some of the leads',
// and many of others.
func suppressionFile(of []leads.Lead, seed uint64) []byte {
	hashes := make(map[string]bool)
	add := func(phone string) {
		sum := sha256.Sum256([]byte(phone))
		hashes[hex.EncodeToString(sum[:])] = true
	}
	for i := range of {
		if i%listedEvery == listedEvery-1 && of[i].Mistake == leads.None {
			add(of[i].Phone)
		}
	}
	used := make(map[string]bool, len(of))
	for i := range of {
		used[of[i].Phone] = true
	}
	others := leads.New(leads.Options{Seed: seed + 1, Campaigns: []leads.Campaign{{ID: "none", Weight: 1}}})
	for _, other := range others.Take(listNoise) {
		if !used[other.Phone] {
			add(other.Phone)
		}
	}
	lines := make([]string, 0, len(hashes))
	for hash := range hashes {
		lines = append(lines, hash)
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, "\n") + "\n")
}

// lines are the first n leads, as a file of them would be.
func (s *demoSet) lines(n int) iter.Seq[line] {
	return func(yield func(line) bool) {
		for i := range min(n, len(s.leads)) {
			if !yield(line{i + 1, s.leads[i].Body}) {
				return
			}
		}
	}
}

func randomText() string {
	var random [12]byte
	_, _ = rand.Read(random[:])
	return hex.EncodeToString(random[:])
}
