package leads

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"pingpost/server/seed"
)

// Campaign is where leads go.
type Campaign struct {
	ID       string
	Vertical Vertical
	Weight   int // its part of all leads; at least 1

	// Certified is a source from which the campaign asks for a consent
	// certificate, if any. Good leads of it have one.
	Certified string
}

// Options say what leads to make.
type Options struct {
	Seed      uint64
	Supplier  string
	Campaigns []Campaign // one at least
	Mistakes  int        // of a thousand leads, how many are wrong
	Repeats   int        // of a thousand leads, how many are about somebody who came before
}

// Lead is one lead: a request's body, and what is known of it.
type Lead struct {
	Body     []byte // one line of JSON
	Campaign string // for which it was made, whatever the body says
	Phone    string // E.164, as a suppression list may hold it
	State    string // empty where the lead does not say it
	Mistake  Mistake
	Repeat   bool // a good lead about somebody who was in a good lead of the campaign before
}

// Source makes leads, one after another. It is not for several goroutines.
type Source struct {
	opt     Options
	rand    *rand.Rand
	shares  int
	places  []seed.Place
	weights int               // of all places
	turns   []int             // phone numbers given out, by place
	known   map[string]memory // by campaign
	people  int
}

// memory is the last people of a campaign, in a ring.
type memory struct {
	people []seed.Person
	next   int
}

// remembered is how many people of a campaign can come again.
const remembered = 256

// began is when the first lead is said to have been made.
var began = time.Date(2026, 3, 2, 14, 0, 0, 0, time.UTC)

// New returns a source. Options without a campaign, or with one that has no
// weight, are a mistake of the caller.
func New(opt Options) *Source {
	s := &Source{
		opt: opt, rand: rand.New(rand.NewPCG(opt.Seed, 0x6c65616473)),
		places: seed.Places(), turns: make([]int, len(seed.Places())), known: make(map[string]memory),
	}
	for i := range opt.Campaigns {
		if opt.Campaigns[i].Weight < 1 {
			panic("BUG: a campaign without weight gets no leads")
		}
		s.shares += opt.Campaigns[i].Weight
	}
	if s.shares == 0 {
		panic("BUG: leads for no campaign")
	}
	for i := range s.places {
		s.weights += s.places[i].Weight
	}
	return s
}

// Next makes the next lead.
func (s *Source) Next() Lead {
	campaign := s.pickCampaign()
	lead := Lead{Campaign: campaign.ID}
	var who seed.Person
	known := s.known[campaign.ID]
	switch {
	case s.chance(s.opt.Mistakes):
		lead.Mistake = s.pickMistake(campaign)
		who = s.newPerson()
	case len(known.people) > 0 && s.chance(s.opt.Repeats):
		lead.Repeat = true
		who = s.again(seed.Pick(s.rand, known.people))
	default:
		who = s.newPerson()
		s.remember(campaign.ID, known, who)
	}
	members := s.members(campaign, &who)
	lead.Mistake.spoil(campaign, members)
	text, err := json.Marshal(members)
	if err != nil {
		panic("BUG: a lead that is no JSON: " + err.Error())
	}
	lead.Body, lead.Phone = lead.Mistake.cut(text), who.Phone
	lead.State, _ = members["state"].(string)
	return lead
}

// Take makes several leads.
func (s *Source) Take(n int) []Lead {
	out := make([]Lead, n)
	for i := range out {
		out[i] = s.Next()
	}
	return out
}

func (s *Source) pickCampaign() *Campaign {
	left := s.rand.IntN(s.shares)
	for i := range s.opt.Campaigns {
		if left -= s.opt.Campaigns[i].Weight; left < 0 {
			return &s.opt.Campaigns[i]
		}
	}
	panic("BUG: the weights of the campaigns do not add up")
}

// again is the same person with a new phone number or a new e-mail address: one
// of the two is enough to know somebody by.
func (s *Source) again(who seed.Person) seed.Person {
	other := s.newPerson()
	if s.chance(500) {
		who.Phone = other.Phone
	} else {
		who.Email = other.Email
	}
	return who
}

func (s *Source) remember(campaign string, m memory, who seed.Person) {
	if len(m.people) < remembered {
		m.people = append(m.people, who)
	} else {
		m.people[m.next] = who
		m.next = (m.next + 1) % remembered
	}
	s.known[campaign] = m
}

var sources = []string{"search", "search", "partner", "email", "radio"}

// members are a lead's names and values. What is optional is there at times.
func (s *Source) members(c *Campaign, who *seed.Person) map[string]any {
	members := map[string]any{
		"flo_campaign_id": c.ID, "flo_supplier_id": s.opt.Supplier,
		"first_name": who.First, "last_name": who.Last,
		"phone": s.written(who.Phone), "email": who.Email,
		"source": seed.Pick(s.rand, sources), "tcpa_consent": s.chance(950),
	}
	if s.chance(975) {
		members["state"] = who.State
	}
	if s.chance(900) {
		members["line1"], members["city"], members["zip"] = who.Line1, who.Town.Name, who.Town.Zip
	}
	if s.chance(800) {
		members["ip_address"] = fmt.Sprintf("198.51.100.%d", s.rand.IntN(256))
		members["consent_timestamp"] = s.asked().Format(time.RFC3339)
		members["consent_text"] = "I agree to be called about offers."
	}
	if s.chance(600) {
		members["ai_quality_score"] = float64(s.rand.IntN(101)) / 100
	}
	if c.Certified != "" && s.chance(150) {
		members["source"], members["consent_cert_url"] = c.Certified, s.certificate()
	}
	if s.chance(100) {
		members["landing_page"] = "spring-offer" // no campaign has a field for it
	}
	for _, field := range c.Vertical.Fields(s.rand, s.asked()) {
		members[field.Name] = field.Value
	}
	return members
}

// asked is when the last person asked for offers.
func (s *Source) asked() time.Time { return began.Add(time.Duration(s.people) * 7 * time.Second) }

// chance is true so many times in a thousand.
func (s *Source) chance(thousandths int) bool { return seed.Chance(s.rand, thousandths) }
