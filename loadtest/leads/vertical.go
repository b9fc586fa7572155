package leads

import (
	"fmt"

	"pingpost/server/seed"
)

// Vertical is a line of business, with fields of its own.
type Vertical = seed.Vertical

const (
	Plain = seed.Plain
	Auto  = seed.Auto
	Solar = seed.Solar
	Life  = seed.Life
)

// AgeBands are the values of driver_age_band, Roofs those of roof.
var (
	AgeBands = seed.AgeBands
	Roofs    = seed.Roofs
)

// certificate is where a consent is said to be proved.
func (s *Source) certificate() string {
	return fmt.Sprintf("https://consent.example.com/c/%016x", s.rand.Uint64())
}
