package scenario

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// maxDocument bounds a scenario's file.
const maxDocument = 1 << 20

// Parse reads a scenario, fills in what it leaves out, and checks it. The error has
// every mistake, each as name:line: what.
func Parse(name string, text []byte) (s *Scenario, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			s, err = nil, fmt.Errorf("%s: the document cannot be read as YAML; check its indentation and brackets", name)
		}
	}()
	if len(text) > maxDocument {
		return nil, fmt.Errorf("%s: %d bytes; a scenario has %d at most", name, len(text), maxDocument)
	}
	s = new(Scenario)
	if err := yaml.UnmarshalWithOptions(text, s, yaml.Strict()); err != nil {
		return nil, inWords(name, err)
	}
	s.complete()
	c := checker{name: name, text: text}
	c.scenario(s)
	return s, errors.Join(c.problems...)
}

// inWords is the library's error on one line, without the text around it.
func inWords(name string, err error) error {
	var told yaml.Error
	if !errors.As(err, &told) || told.GetToken() == nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return fmt.Errorf("%s: %s", name, first)
	}
	return fmt.Errorf("%s:%d: %s", name, told.GetToken().Position.Line, told.GetMessage())
}

// Load reads a built-in scenario by its name, or a file by its path.
func Load(name string) (*Scenario, error) {
	if text, ok := builtin(name); ok {
		return Parse(name, text)
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no scenario %s, and no such file; there are: %s", name, strings.Join(Names(), ", "))
	}
	if err != nil {
		return nil, err
	}
	return Parse(name, text)
}

const (
	defaultInFlight = 2000
	plenty          = 1_000_000 // a second: the highest rate that an exchange can be configured for
	defaultLate     = 20 * time.Millisecond
	defaultTimes    = 1.5
	defaultBid      = "10"
	defaultHeard    = 30 * time.Second
	mostHooks       = 64
)

// complete fills in what was left out.
func (s *Scenario) complete() {
	fill(&s.InFlight, defaultInFlight)
	fill(&s.Supplier.IngestRate, plenty)
	fill(&s.Supplier.PingRate, plenty)
	fill(&s.Limits.Late, defaultLate)
	for i := range s.Phases {
		fill(&s.Phases[i].Arrival, Poisson)
	}
	for i := range s.Campaigns {
		fill(&s.Campaigns[i].Count, 1)
	}
	for i := range s.Buyers {
		b := &s.Buyers[i]
		fill(&b.Count, 1)
		fill(&b.Bid, defaultBid)
		fill(&b.PingRate, plenty)
	}
	if s.Webhooks != nil {
		fill(&s.Webhooks.InFlight, mostHooks)
		fill(&s.Webhooks.Within, defaultHeard)
	}
	if s.Limits.Recovery != nil {
		fill(&s.Limits.Recovery.Times, defaultTimes)
	}
	for i := range s.Limits.Ratios {
		fill(&s.Limits.Ratios[i].At, 99)
	}
}

func fill[T comparable](field *T, value T) {
	var none T
	if *field == none {
		*field = value
	}
}
