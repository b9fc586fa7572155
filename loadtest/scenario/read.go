package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// maxDocument is the highest size of a scenario file.
const maxDocument = 1 << 20

// Parse reads a scenario, sets the defaults, and checks it. The error lists every mistake
// in the form name:line: message.
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
		return nil, formatError(name, err)
	}
	s.complete()
	c := checker{name: name, text: text}
	c.scenario(s)
	return s, errors.Join(c.problems...)
}

// formatError returns the library's error on one line, without the quoted document.
func formatError(name string, err error) error {
	var syntaxErr yaml.Error
	if !errors.As(err, &syntaxErr) || syntaxErr.GetToken() == nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return fmt.Errorf("%s: %s", name, first)
	}
	return fmt.Errorf("%s:%d: %s", name, syntaxErr.GetToken().Position.Line, syntaxErr.GetMessage())
}

// Load reads a built-in scenario by name, or a file by path.
func Load(name string) (*Scenario, error) {
	if text, ok := Text(name); ok {
		return Parse(name, []byte(text))
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no built-in scenario and no file %s; built-in scenarios: %s", name, strings.Join(Names(), ", "))
	}
	if err != nil {
		return nil, err
	}
	return Parse(name, text)
}

const (
	defaultInFlight = 2000
	maxRate         = 1_000_000 // a second: the exchange's highest configurable rate
	defaultLate     = 20 * time.Millisecond
	defaultTimes    = 1.5
	defaultBid      = "10"
	defaultHeard    = 30 * time.Second
	mostHooks       = 64
)

// complete sets the defaults.
func (s *Scenario) complete() {
	s.InFlight = cmp.Or(s.InFlight, defaultInFlight)
	s.Supplier.IngestRate = cmp.Or(s.Supplier.IngestRate, maxRate)
	s.Supplier.PingRate = cmp.Or(s.Supplier.PingRate, maxRate)
	s.Limits.Late = cmp.Or(s.Limits.Late, defaultLate)
	for i := range s.Phases {
		s.Phases[i].Arrival = cmp.Or(s.Phases[i].Arrival, Poisson)
	}
	for i := range s.Campaigns {
		s.Campaigns[i].Count = cmp.Or(s.Campaigns[i].Count, 1)
	}
	for i := range s.Buyers {
		b := &s.Buyers[i]
		b.Count = cmp.Or(b.Count, 1)
		b.Bid = cmp.Or(b.Bid, defaultBid)
		b.PingRate = cmp.Or(b.PingRate, maxRate)
	}
	if s.Webhooks != nil {
		s.Webhooks.InFlight = cmp.Or(s.Webhooks.InFlight, mostHooks)
		s.Webhooks.Within = cmp.Or(s.Webhooks.Within, defaultHeard)
	}
	if s.Limits.Recovery != nil {
		s.Limits.Recovery.Times = cmp.Or(s.Limits.Recovery.Times, defaultTimes)
	}
	for i := range s.Limits.Ratios {
		s.Limits.Ratios[i].At = cmp.Or(s.Limits.Ratios[i].At, 99)
	}
}
